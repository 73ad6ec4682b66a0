"""Computes the sums that a database keeps along with its rows, for tests that write rows without the triggers that keep
these sums."""

SUMS = """
DELETE FROM usage_totals;
INSERT INTO usage_totals
SELECT owner_id, CASE WHEN of_thread THEN thread_ref ELSE '' END, started_at / 86400000, model, count(*),
  sum(1 - usage_complete), sum(input_tokens), sum(output_tokens), sum(cached_tokens), sum(reasoning_tokens),
  sum(cost >> 32), sum(cost & 4294967295)
FROM model_calls, (SELECT 0 AS of_thread UNION ALL SELECT 1) WHERE status <> 'open' GROUP BY 1, 2, 3, 4;

DELETE FROM spent_totals;
INSERT INTO spent_totals
SELECT owner_id, '', -1, sum(cost >> 32), sum(cost & 4294967295) FROM model_calls GROUP BY owner_id
UNION ALL
SELECT owner_id, '', started_at / 86400000, sum(cost >> 32), sum(cost & 4294967295) FROM model_calls
GROUP BY owner_id, started_at / 86400000
UNION ALL
SELECT owner_id, thread_ref, -1, sum(cost >> 32), sum(cost & 4294967295) FROM model_calls GROUP BY owner_id, thread_ref;

UPDATE runs SET
  spent_high = (SELECT coalesce(sum(cost >> 32), 0) FROM model_calls WHERE run_id = runs.id),
  spent_low = (SELECT coalesce(sum(cost & 4294967295), 0) FROM model_calls WHERE run_id = runs.id),
  log_bytes = (SELECT coalesce(sum(length(CAST(body AS BLOB))), 0) FROM log WHERE run_id = runs.id)
    + (SELECT coalesce(sum(length(CAST(body AS BLOB))), 0) FROM checkpoints WHERE run_id = runs.id),
  kept_bytes = (SELECT coalesce(sum(length(CAST(content AS BLOB)) + length(CAST(metadata AS BLOB))), 0)
                FROM agent_chat_messages WHERE run_id = runs.id)
    + (SELECT coalesce(sum(length(CAST(input AS BLOB))), 0) FROM run_inputs WHERE run_id = runs.id);

DELETE FROM storage_totals;
INSERT INTO storage_totals
SELECT owner_id, sum(log_bytes + kept_bytes) FROM runs WHERE ended_at IS NOT NULL GROUP BY owner_id;
"""


def recount(db) -> None:
    """Works inside the transaction that is open."""
    for statement in SUMS.split(";\n"):
        if statement.strip():
            db.execute(statement)

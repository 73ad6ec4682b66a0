#include "runnel/store/sqlite_schema.h"

namespace runnel::store::sqlite {

// What ended calls used, by thread, UTC day and model; the thread '' is all of a user's together (USE-8). And
// what is spent and held of the budgets (USE-9): by user (thread '', day -1), by user and day (thread ''),
// and by thread (day -1); a run's is in its row. Days are counted from 1970.
//
// Triggers keep them, so that no statement that writes to the ledger can forget them. A sum of costs has two
// halves (see sqlite_calls.cc), a sum of tokens stays at the most that fits.
//
// `log_bytes` and `kept_bytes` are what a run's rows take up: what goes with its log, and the rest. When the
// run has ended they are in its owner's sum (HTTP-9). `purges` is what is to be deleted: a run's log, or a
// thread.
constexpr char kTotalsText[] = R"sql(
CREATE TABLE usage_totals(
  owner_id TEXT NOT NULL,
  thread_ref TEXT NOT NULL,
  day INTEGER NOT NULL,
  model TEXT NOT NULL,
  calls INTEGER NOT NULL,
  incomplete_calls INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cached_tokens INTEGER NOT NULL,
  reasoning_tokens INTEGER NOT NULL,
  cost_high INTEGER NOT NULL,
  cost_low INTEGER NOT NULL,
  PRIMARY KEY (owner_id, thread_ref, day, model)
) WITHOUT ROWID;

CREATE TABLE spent_totals(
  owner_id TEXT NOT NULL,
  thread_ref TEXT NOT NULL,
  day INTEGER NOT NULL,
  cost_high INTEGER NOT NULL,
  cost_low INTEGER NOT NULL,
  PRIMARY KEY (owner_id, thread_ref, day)
) WITHOUT ROWID;

CREATE TABLE storage_totals(
  owner_id TEXT NOT NULL PRIMARY KEY,
  bytes INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE purges(
  number INTEGER PRIMARY KEY,
  run_id INTEGER,
  thread_id INTEGER,
  CONSTRAINT chk_purge_one CHECK ((run_id IS NULL) <> (thread_id IS NULL))
);

ALTER TABLE runs ADD COLUMN spent_high INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN spent_low INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN log_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN kept_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE agent_chat_sessions ADD COLUMN error_id TEXT;

-- What the database holds already.

INSERT INTO usage_totals
SELECT owner_id, thread, day, model, calls, incomplete,
  CASE WHEN input_high > 2147483647 THEN 9223372036854775807 ELSE (input_high << 32) + input_low END,
  CASE WHEN output_high > 2147483647 THEN 9223372036854775807 ELSE (output_high << 32) + output_low END,
  CASE WHEN cached_high > 2147483647 THEN 9223372036854775807 ELSE (cached_high << 32) + cached_low END,
  CASE WHEN reasoning_high > 2147483647 THEN 9223372036854775807 ELSE (reasoning_high << 32) + reasoning_low END,
  cost_high, cost_low
FROM (
  SELECT owner_id, CASE WHEN of_thread THEN thread_ref ELSE '' END AS thread, started_at / 86400000 AS day, model,
    count(*) AS calls, sum(1 - usage_complete) AS incomplete,
    sum(input_tokens >> 32) + (sum(input_tokens & 4294967295) >> 32) AS input_high,
    sum(input_tokens & 4294967295) & 4294967295 AS input_low,
    sum(output_tokens >> 32) + (sum(output_tokens & 4294967295) >> 32) AS output_high,
    sum(output_tokens & 4294967295) & 4294967295 AS output_low,
    sum(cached_tokens >> 32) + (sum(cached_tokens & 4294967295) >> 32) AS cached_high,
    sum(cached_tokens & 4294967295) & 4294967295 AS cached_low,
    sum(reasoning_tokens >> 32) + (sum(reasoning_tokens & 4294967295) >> 32) AS reasoning_high,
    sum(reasoning_tokens & 4294967295) & 4294967295 AS reasoning_low,
    sum(cost >> 32) AS cost_high, sum(cost & 4294967295) AS cost_low
  FROM model_calls, (SELECT 0 AS of_thread UNION ALL SELECT 1)
  WHERE status <> 'open'
  GROUP BY 1, 2, 3, 4
);

INSERT INTO spent_totals
SELECT owner_id, '', -1, sum(cost >> 32), sum(cost & 4294967295) FROM model_calls GROUP BY owner_id
UNION ALL
SELECT owner_id, '', started_at / 86400000, sum(cost >> 32), sum(cost & 4294967295) FROM model_calls
GROUP BY owner_id, started_at / 86400000
UNION ALL
SELECT owner_id, thread_ref, -1, sum(cost >> 32), sum(cost & 4294967295) FROM model_calls
GROUP BY owner_id, thread_ref;

UPDATE runs SET
  spent_high = (SELECT coalesce(sum(cost >> 32), 0) FROM model_calls WHERE run_id = runs.id),
  spent_low = (SELECT coalesce(sum(cost & 4294967295), 0) FROM model_calls WHERE run_id = runs.id),
  log_bytes = (SELECT coalesce(sum(length(CAST(body AS BLOB))), 0) FROM log WHERE run_id = runs.id)
    + (SELECT coalesce(sum(length(CAST(body AS BLOB))), 0) FROM checkpoints WHERE run_id = runs.id),
  kept_bytes = (SELECT coalesce(sum(length(CAST(content AS BLOB)) + length(CAST(metadata AS BLOB))), 0)
                FROM agent_chat_messages WHERE run_id = runs.id)
    + (SELECT coalesce(sum(length(CAST(input AS BLOB))), 0) FROM run_inputs WHERE run_id = runs.id);

INSERT INTO storage_totals
SELECT owner_id, sum(log_bytes + kept_bytes) FROM runs WHERE ended_at IS NOT NULL GROUP BY owner_id;

-- What keeps the sums from now on.

CREATE TRIGGER trg_spent_when_opened AFTER INSERT ON model_calls WHEN NEW.cost <> 0
BEGIN
  INSERT INTO spent_totals(owner_id, thread_ref, day, cost_high, cost_low)
  VALUES (NEW.owner_id, '', -1, NEW.cost >> 32, NEW.cost & 4294967295),
         (NEW.owner_id, '', NEW.started_at / 86400000, NEW.cost >> 32, NEW.cost & 4294967295),
         (NEW.owner_id, NEW.thread_ref, -1, NEW.cost >> 32, NEW.cost & 4294967295)
  ON CONFLICT (owner_id, thread_ref, day) DO UPDATE
  SET cost_high = cost_high + excluded.cost_high, cost_low = cost_low + excluded.cost_low;
  UPDATE runs SET spent_high = spent_high + (NEW.cost >> 32), spent_low = spent_low + (NEW.cost & 4294967295)
  WHERE id = NEW.run_id;
END;

CREATE TRIGGER trg_spent_when_changed AFTER UPDATE OF cost ON model_calls WHEN NEW.cost <> OLD.cost
BEGIN
  INSERT INTO spent_totals(owner_id, thread_ref, day, cost_high, cost_low)
  VALUES (NEW.owner_id, '', -1, (NEW.cost >> 32) - (OLD.cost >> 32),
          (NEW.cost & 4294967295) - (OLD.cost & 4294967295)),
         (NEW.owner_id, '', NEW.started_at / 86400000, (NEW.cost >> 32) - (OLD.cost >> 32),
          (NEW.cost & 4294967295) - (OLD.cost & 4294967295)),
         (NEW.owner_id, NEW.thread_ref, -1, (NEW.cost >> 32) - (OLD.cost >> 32),
          (NEW.cost & 4294967295) - (OLD.cost & 4294967295))
  ON CONFLICT (owner_id, thread_ref, day) DO UPDATE
  SET cost_high = cost_high + excluded.cost_high, cost_low = cost_low + excluded.cost_low;
  UPDATE runs SET spent_high = spent_high + (NEW.cost >> 32) - (OLD.cost >> 32),
                  spent_low = spent_low + (NEW.cost & 4294967295) - (OLD.cost & 4294967295)
  WHERE id = NEW.run_id;
END;

CREATE TRIGGER trg_usage_when_ended AFTER UPDATE OF status ON model_calls
WHEN OLD.status = 'open' AND NEW.status <> 'open'
BEGIN
  INSERT INTO usage_totals
  VALUES (NEW.owner_id, '', NEW.started_at / 86400000, NEW.model, 1, 1 - NEW.usage_complete, NEW.input_tokens,
          NEW.output_tokens, NEW.cached_tokens, NEW.reasoning_tokens, NEW.cost >> 32, NEW.cost & 4294967295),
         (NEW.owner_id, NEW.thread_ref, NEW.started_at / 86400000, NEW.model, 1, 1 - NEW.usage_complete,
          NEW.input_tokens, NEW.output_tokens, NEW.cached_tokens, NEW.reasoning_tokens, NEW.cost >> 32,
          NEW.cost & 4294967295)
  ON CONFLICT (owner_id, thread_ref, day, model) DO UPDATE
  SET calls = calls + 1, incomplete_calls = incomplete_calls + excluded.incomplete_calls,
      input_tokens = input_tokens + min(excluded.input_tokens, 9223372036854775807 - input_tokens),
      output_tokens = output_tokens + min(excluded.output_tokens, 9223372036854775807 - output_tokens),
      cached_tokens = cached_tokens + min(excluded.cached_tokens, 9223372036854775807 - cached_tokens),
      reasoning_tokens = reasoning_tokens + min(excluded.reasoning_tokens, 9223372036854775807 - reasoning_tokens),
      cost_high = cost_high + excluded.cost_high, cost_low = cost_low + excluded.cost_low;
END;

CREATE TRIGGER trg_usage_when_booked AFTER UPDATE OF cost ON model_calls
WHEN OLD.status <> 'open' AND NEW.cost <> OLD.cost
BEGIN
  UPDATE usage_totals
  SET cost_high = cost_high + (NEW.cost >> 32) - (OLD.cost >> 32),
      cost_low = cost_low + (NEW.cost & 4294967295) - (OLD.cost & 4294967295)
  WHERE owner_id = NEW.owner_id AND thread_ref IN ('', NEW.thread_ref) AND day = NEW.started_at / 86400000
    AND model = NEW.model;
END;

CREATE TRIGGER trg_stored_when_ended AFTER UPDATE OF ended_at ON runs
WHEN OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL
BEGIN
  INSERT INTO storage_totals(owner_id, bytes) VALUES (NEW.owner_id, NEW.log_bytes + NEW.kept_bytes)
  ON CONFLICT (owner_id) DO UPDATE SET bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER trg_stored_when_deleted AFTER DELETE ON runs WHEN OLD.ended_at IS NOT NULL
BEGIN
  UPDATE storage_totals SET bytes = bytes - OLD.log_bytes - OLD.kept_bytes WHERE owner_id = OLD.owner_id;
END;

CREATE TRIGGER trg_stored_when_disowned AFTER UPDATE OF owner_id ON runs WHEN OLD.ended_at IS NOT NULL
BEGIN
  UPDATE storage_totals SET bytes = bytes - OLD.log_bytes - OLD.kept_bytes WHERE owner_id = OLD.owner_id;
END;

CREATE TRIGGER trg_purge_when_expired AFTER UPDATE OF log_expired ON runs
WHEN NEW.log_expired = 1 AND OLD.log_expired = 0
BEGIN
  INSERT INTO purges(run_id) VALUES (NEW.id);
END;

-- The one currency that a session can have is CNY; RAISE takes no expression.
DROP TRIGGER trg_message_currency_match;
CREATE TRIGGER trg_message_currency_match BEFORE INSERT ON agent_chat_messages
WHEN NEW.currency IS NOT (SELECT billing_currency FROM agent_chat_sessions WHERE id = NEW.session_id)
BEGIN
  SELECT RAISE(ABORT, 'message currency does not match session currency CNY');
END;
DROP TRIGGER trg_message_currency_match_update;
CREATE TRIGGER trg_message_currency_match_update BEFORE UPDATE ON agent_chat_messages
WHEN NEW.currency IS NOT (SELECT billing_currency FROM agent_chat_sessions WHERE id = NEW.session_id)
BEGIN
  SELECT RAISE(ABORT, 'message currency does not match session currency CNY');
END;
)sql";

char const* const kTotals = kTotalsText;

}  // namespace runnel::store::sqlite

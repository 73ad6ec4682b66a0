#include "runnel/store/postgres_schema.h"

// The sums over the ledger, what a user stores, and what is to be deleted: the same tables and rules as in
// sqlite_schema_totals.cc. Amounts and counts are numeric, which has no end.
//
// Sums are locked after threads and runs, and of one user in one order: what is spent by the user first. So
// whoever holds a reserve sees all that were held before.
namespace runnel::store::postgres {

char const* const kTotals = R"sql(
CREATE TABLE usage_totals(
  owner_id text NOT NULL,
  thread_ref text COLLATE "C" NOT NULL,
  day bigint NOT NULL,
  model text COLLATE "C" NOT NULL,
  calls bigint NOT NULL,
  incomplete_calls bigint NOT NULL,
  input_tokens numeric NOT NULL,
  output_tokens numeric NOT NULL,
  cached_tokens numeric NOT NULL,
  reasoning_tokens numeric NOT NULL,
  cost numeric NOT NULL,
  PRIMARY KEY (owner_id, thread_ref, day, model)
) WITH (fillfactor = 70);

CREATE TABLE spent_totals(
  owner_id text NOT NULL,
  thread_ref text NOT NULL,
  day bigint NOT NULL,
  cost numeric NOT NULL,
  PRIMARY KEY (owner_id, thread_ref, day)
) WITH (fillfactor = 70);

CREATE TABLE storage_totals(
  owner_id text PRIMARY KEY,
  bytes bigint NOT NULL
) WITH (fillfactor = 70);

CREATE TABLE purges(
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  run_id bigint,
  thread_id bigint,
  CONSTRAINT chk_purge_one CHECK ((run_id IS NULL) <> (thread_id IS NULL))
);

ALTER TABLE runs ADD COLUMN spent numeric NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN log_bytes bigint NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN kept_bytes bigint NOT NULL DEFAULT 0;
ALTER TABLE agent_chat_sessions ADD COLUMN error_id text;

-- What the database holds already.

INSERT INTO usage_totals
SELECT owner_id, CASE WHEN of_thread THEN thread_ref ELSE '' END, started_at / 86400000, model, count(*),
       count(*) FILTER (WHERE NOT usage_complete), sum(input_tokens), sum(output_tokens), sum(cached_tokens),
       sum(reasoning_tokens), sum(cost)
FROM model_calls, (VALUES (false), (true)) AS grouped(of_thread)
WHERE status <> 'open' GROUP BY 1, 2, 3, 4;

INSERT INTO spent_totals
SELECT owner_id, '', -1, sum(cost) FROM model_calls GROUP BY owner_id
UNION ALL
SELECT owner_id, '', started_at / 86400000, sum(cost) FROM model_calls GROUP BY owner_id, started_at / 86400000
UNION ALL
SELECT owner_id, thread_ref, -1, sum(cost) FROM model_calls GROUP BY owner_id, thread_ref;

UPDATE runs SET
  spent = (SELECT coalesce(sum(cost), 0) FROM model_calls WHERE run_id = runs.id),
  log_bytes = (SELECT coalesce(sum(octet_length(body)), 0) FROM log WHERE run_id = runs.id)
    + (SELECT coalesce(sum(octet_length(body::text)), 0) FROM checkpoints WHERE run_id = runs.id),
  kept_bytes = (SELECT coalesce(sum(octet_length(content) + octet_length(metadata::text)), 0)
                FROM agent_chat_messages WHERE run_id = runs.id)
    + (SELECT coalesce(sum(octet_length(input)), 0) FROM run_inputs WHERE run_id = runs.id);

INSERT INTO storage_totals
SELECT owner_id, sum(log_bytes + kept_bytes) FROM runs WHERE ended_at IS NOT NULL GROUP BY owner_id;

-- What keeps the sums from now on.

CREATE FUNCTION runnel_add_spent(p_call model_calls, p_more numeric) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_day bigint := p_call.started_at / 86400000;
BEGIN
  INSERT INTO spent_totals AS t VALUES (p_call.owner_id, '', -1, p_more)
  ON CONFLICT (owner_id, thread_ref, day) DO UPDATE SET cost = t.cost + excluded.cost;
  INSERT INTO spent_totals AS t
  VALUES (p_call.owner_id, '', v_day, p_more), (p_call.owner_id, p_call.thread_ref, -1, p_more)
  ON CONFLICT (owner_id, thread_ref, day) DO UPDATE SET cost = t.cost + excluded.cost;
  UPDATE runs SET spent = spent + p_more WHERE id = p_call.run_id;
END $$;

CREATE FUNCTION runnel_add_usage(p_call model_calls) RETURNS void
LANGUAGE sql AS $$
  INSERT INTO usage_totals AS t
  SELECT p_call.owner_id, thread, p_call.started_at / 86400000, p_call.model, 1,
         CASE WHEN p_call.usage_complete THEN 0 ELSE 1 END, p_call.input_tokens, p_call.output_tokens,
         p_call.cached_tokens, p_call.reasoning_tokens, p_call.cost
  FROM (VALUES (''), (p_call.thread_ref)) AS threads(thread)
  ON CONFLICT (owner_id, thread_ref, day, model) DO UPDATE
  SET calls = t.calls + 1, incomplete_calls = t.incomplete_calls + excluded.incomplete_calls,
      input_tokens = t.input_tokens + excluded.input_tokens, output_tokens = t.output_tokens + excluded.output_tokens,
      cached_tokens = t.cached_tokens + excluded.cached_tokens,
      reasoning_tokens = t.reasoning_tokens + excluded.reasoning_tokens, cost = t.cost + excluded.cost
$$;

CREATE FUNCTION runnel_keep_totals() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    IF NEW.cost <> 0 THEN PERFORM runnel_add_spent(NEW, NEW.cost); END IF;
    RETURN NULL;
  END IF;
  IF NEW.cost <> OLD.cost THEN PERFORM runnel_add_spent(NEW, NEW.cost - OLD.cost); END IF;
  IF OLD.status = 'open' AND NEW.status <> 'open' THEN
    PERFORM runnel_add_usage(NEW);
  ELSIF OLD.status <> 'open' AND NEW.cost <> OLD.cost THEN
    UPDATE usage_totals SET cost = cost + NEW.cost - OLD.cost
    WHERE owner_id = NEW.owner_id AND thread_ref IN ('', NEW.thread_ref) AND day = NEW.started_at / 86400000
      AND model = NEW.model;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER trg_totals_when_opened AFTER INSERT ON model_calls
FOR EACH ROW EXECUTE FUNCTION runnel_keep_totals();
CREATE TRIGGER trg_totals_when_changed AFTER UPDATE OF status, cost ON model_calls
FOR EACH ROW EXECUTE FUNCTION runnel_keep_totals();

-- The error of a run that has just ended is its thread's until the next one starts.
CREATE FUNCTION runnel_keep_run_end() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO storage_totals AS t VALUES (NEW.owner_id, NEW.log_bytes + NEW.kept_bytes)
  ON CONFLICT (owner_id) DO UPDATE SET bytes = t.bytes + excluded.bytes;
  IF OLD.status = 'running' THEN
    UPDATE agent_chat_sessions SET error_id = NEW.error_id WHERE id = NEW.thread_id;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER trg_run_ended AFTER UPDATE OF ended_at ON runs FOR EACH ROW
WHEN (OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL) EXECUTE FUNCTION runnel_keep_run_end();

CREATE FUNCTION runnel_give_storage_back() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE storage_totals SET bytes = bytes - OLD.log_bytes - OLD.kept_bytes WHERE owner_id = OLD.owner_id;
  RETURN NULL;
END $$;
CREATE TRIGGER trg_stored_when_deleted AFTER DELETE ON runs FOR EACH ROW
WHEN (OLD.ended_at IS NOT NULL) EXECUTE FUNCTION runnel_give_storage_back();
CREATE TRIGGER trg_stored_when_disowned AFTER UPDATE OF owner_id ON runs FOR EACH ROW
WHEN (OLD.ended_at IS NOT NULL) EXECUTE FUNCTION runnel_give_storage_back();

CREATE FUNCTION runnel_keep_stored() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE storage_totals
  SET bytes = bytes + NEW.log_bytes + NEW.kept_bytes - OLD.log_bytes - OLD.kept_bytes WHERE owner_id = NEW.owner_id;
  RETURN NULL;
END $$;
CREATE TRIGGER trg_stored_when_changed AFTER UPDATE OF log_bytes, kept_bytes ON runs FOR EACH ROW
WHEN (OLD.ended_at IS NOT NULL AND OLD.log_bytes + OLD.kept_bytes <> NEW.log_bytes + NEW.kept_bytes)
EXECUTE FUNCTION runnel_keep_stored();

CREATE FUNCTION runnel_note_purge() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO purges(run_id) VALUES (NEW.id);
  RETURN NULL;
END $$;
CREATE TRIGGER trg_purge_when_expired AFTER UPDATE OF log_expired ON runs FOR EACH ROW
WHEN (NEW.log_expired AND NOT OLD.log_expired) EXECUTE FUNCTION runnel_note_purge();

CREATE FUNCTION enforce_message_currency_match_session() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  v_currency varchar(3);
BEGIN
  SELECT billing_currency INTO v_currency FROM agent_chat_sessions WHERE id = NEW.session_id;
  IF NEW.currency IS DISTINCT FROM v_currency THEN
    RAISE EXCEPTION 'message currency % does not match session currency %', NEW.currency, v_currency
    USING ERRCODE = 'RN002';
  END IF;
  RETURN NEW;
END $$;
DROP TRIGGER trg_message_currency_match ON agent_chat_messages;
DROP FUNCTION runnel_match_currency;
CREATE TRIGGER trg_message_currency_match BEFORE INSERT OR UPDATE ON agent_chat_messages
FOR EACH ROW EXECUTE FUNCTION enforce_message_currency_match_session();
)sql";

}  // namespace runnel::store::postgres

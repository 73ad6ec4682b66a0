#include "runnel/store/postgres_schema.h"

// The functions that know of the sums (postgres_totals.cc): budgets in one row each, and what a run stores.
// Opens of one user come one after the other by the row of the user's sum, which a reserve changes: whoever
// holds one has counted all that were held before, on whatever node. A call that reserves nothing waits for
// nobody.
namespace runnel::store::postgres {

char const* const kBounds = R"sql(
-- A thread that starts a run has no error any more.
CREATE OR REPLACE FUNCTION runnel_set_thread_status(p_thread bigint, p_status text, p_now bigint) RETURNS void
LANGUAGE sql AS $$
  UPDATE agent_chat_sessions
  SET status = p_status, state_snapshot = jsonb_set(state_snapshot, '{status}', to_jsonb(p_status)),
      error_id = CASE WHEN p_status <> 'running' THEN error_id END, updated_at = greatest(updated_at, p_now)
  WHERE id = p_thread
$$;

-- The first budget, by its scope's name, that would be exceeded if p_more were spent; null: there is room.
-- p_budgets: {run, thread, user, day, day_began}, in pico; null: no limit.
CREATE OR REPLACE FUNCTION runnel_full_budget(p_budgets json, p_owner text, p_thread_ref text, p_run bigint,
                                              p_more numeric)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  v_run numeric := runnel_money((p_budgets->>'run')::bigint) - p_more;
  v_thread numeric := runnel_money((p_budgets->>'thread')::bigint) - p_more;
  v_user numeric := runnel_money((p_budgets->>'user')::bigint) - p_more;
  v_day numeric := runnel_money((p_budgets->>'day')::bigint) - p_more;
BEGIN
  IF v_run IS NOT NULL AND p_run IS NOT NULL THEN
    IF (SELECT spent FROM runs WHERE id = p_run) > v_run THEN RETURN 'run'; END IF;
  END IF;
  IF v_thread IS NOT NULL THEN
    IF coalesce((SELECT cost FROM spent_totals WHERE owner_id = p_owner AND thread_ref = p_thread_ref AND day = -1), 0)
        > v_thread THEN
      RETURN 'thread';
    END IF;
  END IF;
  IF v_user IS NOT NULL THEN
    IF coalesce((SELECT cost FROM spent_totals WHERE owner_id = p_owner AND thread_ref = '' AND day = -1), 0)
        > v_user THEN
      RETURN 'user';
    END IF;
  END IF;
  IF v_day IS NOT NULL THEN
    IF (SELECT coalesce(sum(cost), 0) FROM spent_totals
        WHERE owner_id = p_owner AND thread_ref = ''
          AND day >= greatest((p_budgets->>'day_began')::bigint / 86400000, 0)) > v_day THEN
      RETURN 'day';
    END IF;
  END IF;
  RETURN NULL;
END $$;
DROP FUNCTION runnel_spent_since;

-- p_budgets is null where nothing is limited. The reserve locks the user's sum, so that of several opens at once each
-- counts those before it.
CREATE OR REPLACE FUNCTION runnel_open_call(p_id text, p_run bigint, p_epoch bigint, p_stage text, p_attempt bigint,
                                            p_provider text, p_model text, p_started_at bigint,
                                            p_input_estimate bigint, p_cost_estimate bigint, p_reserve bigint,
                                            p_budgets json) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_run runs;
  v_thread agent_chat_sessions;
  v_full text;
BEGIN
  SELECT * INTO v_run FROM runs WHERE id = p_run AND epoch = p_epoch AND status = 'running' FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'call % of run key % at epoch %', p_id, p_run, p_epoch USING ERRCODE = 'RN001';
  END IF;
  SELECT * INTO v_thread FROM agent_chat_sessions WHERE id = v_run.thread_id;

  INSERT INTO model_calls(id, owner_id, thread_ref, run_ref, run_id, epoch, stage, attempt, provider, model,
                          started_at, input_estimate, cost_estimate, reserve, cost, currency)
  VALUES (p_id, v_run.owner_id, v_thread.thread_ref, v_run.run_ref, p_run, p_epoch, p_stage, p_attempt, p_provider,
          p_model, p_started_at, p_input_estimate, runnel_money(p_cost_estimate), runnel_money(p_reserve),
          runnel_money(p_reserve), v_thread.billing_currency)
  ON CONFLICT (id) DO NOTHING;
  IF NOT FOUND THEN
    IF EXISTS (SELECT 1 FROM model_calls WHERE id = p_id AND run_id = p_run) THEN RETURN; END IF;
    RAISE EXCEPTION 'call % is another run''s', p_id USING ERRCODE = '23505';
  END IF;

  IF p_budgets IS NOT NULL THEN
    v_full := runnel_full_budget(p_budgets, v_run.owner_id, v_thread.thread_ref, p_run, 0);
    IF v_full IS NOT NULL THEN
      RAISE EXCEPTION 'call %: the budget of the %', p_id, v_full USING ERRCODE = 'RN005';
    END IF;
  END IF;
END $$;

-- What messages take up of their owner's storage. p_messages: a JSON array or null.
CREATE FUNCTION runnel_message_bytes(p_messages json) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(sum(octet_length(m->>'content') + octet_length(m->>'metadata')), 0)::bigint
  FROM json_array_elements(p_messages) AS m
$$;

-- p_begin: {title, message, last_n, next_idx, body}.
CREATE OR REPLACE FUNCTION runnel_write_begin(p_run bigint, p_thread bigint, p_ref text, p_epoch bigint,
                                              p_rolled_back boolean, p_begin json, p_now bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_message jsonb := p_begin->'message';
  v_attempt int := 0;
BEGIN
  UPDATE agent_chat_sessions SET title = p_begin->>'title' WHERE id = p_thread AND title IS NULL;
  WHILE EXISTS (SELECT 1 FROM agent_chat_messages
                WHERE session_id = p_thread AND message_id = v_message->>'id') LOOP
    v_attempt := v_attempt + 1;
    v_message := jsonb_set(v_message, '{id}', to_jsonb(
      p_ref || '-input' || CASE WHEN v_attempt = 1 THEN '' ELSE '-' || v_attempt END));
  END LOOP;
  PERFORM runnel_insert_messages(p_run, p_thread, p_rolled_back, json_build_array(v_message), p_now);
  INSERT INTO log(run_id, first_n, last_n, epoch, body)
  VALUES (p_run, 1, (p_begin->>'last_n')::bigint, p_epoch, p_begin->>'body');
  UPDATE runs SET last_n = (p_begin->>'last_n')::bigint, next_idx = (p_begin->>'next_idx')::bigint,
                  log_bytes = log_bytes + octet_length(p_begin->>'body'),
                  kept_bytes = kept_bytes + runnel_message_bytes(json_build_array(v_message))
  WHERE id = p_run;
END $$;

-- True: written. False: the log already holds exactly this batch.
CREATE OR REPLACE FUNCTION runnel_append(p_run bigint, p_epoch bigint, p_first_n bigint, p_last_n bigint,
                                         p_next_idx bigint, p_body text, p_messages json, p_now bigint)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  v_thread bigint;
  v_rolled_back boolean;
BEGIN
  UPDATE runs SET last_n = p_last_n, next_idx = p_next_idx, log_bytes = log_bytes + octet_length(p_body),
                  kept_bytes = kept_bytes + CASE WHEN p_messages IS NULL THEN 0
                                                 ELSE runnel_message_bytes(p_messages) END
  WHERE id = p_run AND epoch = p_epoch AND last_n = p_first_n - 1 AND status = 'running'
  RETURNING thread_id, rolled_back INTO v_thread, v_rolled_back;
  IF NOT FOUND THEN
    IF EXISTS (SELECT 1 FROM log WHERE run_id = p_run AND first_n = p_first_n AND last_n = p_last_n
                                   AND epoch = p_epoch AND body = p_body) THEN
      RETURN false;
    END IF;
    RAISE EXCEPTION 'run key % at epoch % before %', p_run, p_epoch, p_first_n USING ERRCODE = 'RN001';
  END IF;
  INSERT INTO log(run_id, first_n, last_n, epoch, body) VALUES (p_run, p_first_n, p_last_n, p_epoch, p_body);
  IF p_messages IS NOT NULL THEN
    PERFORM runnel_insert_messages(p_run, v_thread, v_rolled_back, p_messages, p_now);
  END IF;
  RETURN true;
END $$;

CREATE OR REPLACE FUNCTION runnel_discard(p_run bigint, p_last_n bigint, p_next_idx bigint, p_body text, p_now bigint)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_run runs := runnel_lock_run(p_run);
  v_epoch bigint := greatest(v_run.epoch + 1, p_now);
BEGIN
  IF v_run.id IS NULL THEN
    RAISE EXCEPTION 'discard of a run that does not exist' USING ERRCODE = 'RN003';
  END IF;
  IF v_run.status <> 'queued' THEN
    IF v_run.status = 'canceled' AND EXISTS (
      SELECT 1 FROM log WHERE run_id = p_run AND first_n = 1 AND last_n = p_last_n AND epoch = v_run.epoch
                          AND body = p_body) THEN
      RETURN;
    END IF;
    RAISE EXCEPTION 'discard of run %, which is %', v_run.run_ref, v_run.status USING ERRCODE = 'RN002';
  END IF;
  INSERT INTO run_epochs(run_id, epoch, first_n) VALUES (p_run, v_epoch, 1);
  INSERT INTO log(run_id, first_n, last_n, epoch, body) VALUES (p_run, 1, p_last_n, v_epoch, p_body);
  UPDATE runs SET status = 'canceled', queue_no = NULL, epoch = v_epoch, last_n = p_last_n, next_idx = p_next_idx,
                  ended_at = p_now, log_bytes = log_bytes + octet_length(p_body) WHERE id = p_run;
END $$;
)sql";

}  // namespace runnel::store::postgres

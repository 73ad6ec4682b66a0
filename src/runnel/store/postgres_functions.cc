#include "runnel/store/postgres_schema.h"

// One intent is one call of a function here, and a call is one implicit transaction: an error undoes all of
// it. Refusals are raised with the store's own SQLSTATEs (postgres_error.cc): RN001 fenced, RN002 conflict,
// RN003 not found, RN004 invalid.
//
// What changes a thread's runs holds the thread's row for the whole transaction, taken before any run's row.
// The lock is FOR NO KEY UPDATE because the messages' foreign keys share-lock the same row: FOR UPDATE would
// make an append wait for an admit that waits for it.
namespace runnel::store::postgres {

char const* const kFunctions = R"sql(
CREATE FUNCTION runnel_set_thread_status(p_thread bigint, p_status text, p_now bigint) RETURNS void
LANGUAGE sql AS $$
  UPDATE agent_chat_sessions
  SET status = p_status, state_snapshot = jsonb_set(state_snapshot, '{status}', to_jsonb(p_status)),
      updated_at = greatest(updated_at, p_now)
  WHERE id = p_thread
$$;

-- p_messages: a JSON array in the order of writing; its members are postgres_store.cc's.
CREATE FUNCTION runnel_insert_messages(p_run bigint, p_thread bigint, p_rolled_back boolean, p_messages json,
                                       p_now bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  m json;
  v_seq bigint;
BEGIN
  FOR m IN SELECT value FROM json_array_elements(p_messages) WITH ORDINALITY AS t(value, n) ORDER BY n LOOP
    IF m->>'lane' = 'visible' THEN
      SELECT coalesce(max(seq), 0) + 1 INTO v_seq FROM agent_chat_messages WHERE session_id = p_thread AND seq > 0;
    ELSE
      SELECT coalesce(min(seq), 0) - 1 INTO v_seq FROM agent_chat_messages WHERE session_id = p_thread AND seq < 0;
    END IF;
    INSERT INTO agent_chat_messages(session_id, run_id, message_id, seq, role, content, metadata, visibility_mask,
                                    input_tokens, output_tokens, cost, currency, created_at)
    SELECT s.id, p_run, m->>'id', v_seq, m->>'role', m->>'content', (m->>'metadata')::json,
           CASE WHEN p_rolled_back THEN 0 ELSE (m->>'mask')::int END,
           (m->>'input_tokens')::bigint, (m->>'output_tokens')::bigint, (m->>'pico')::numeric * 0.000000000001,
           s.billing_currency, p_now
    FROM agent_chat_sessions s WHERE s.id = p_thread;
  END LOOP;
END $$;

-- p_begin: {title, message, last_n, next_idx, body}.
CREATE FUNCTION runnel_write_begin(p_run bigint, p_thread bigint, p_ref text, p_epoch bigint, p_rolled_back boolean,
                                   p_begin json, p_now bigint) RETURNS void
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
  UPDATE runs SET last_n = (p_begin->>'last_n')::bigint, next_idx = (p_begin->>'next_idx')::bigint WHERE id = p_run;
END $$;

CREATE FUNCTION runnel_admitted_before(p_owner text, p_ref text, p_hash text)
RETURNS TABLE (outcome text, run bigint, thread bigint, thread_ref text, epoch bigint, status text,
               cancel_first bigint)
LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN r.input_hash = p_hash THEN 'existing' ELSE 'id_conflict' END, r.id, r.thread_id, s.thread_ref,
         r.epoch, r.status, NULL::bigint
  FROM runs r JOIN agent_chat_sessions s ON s.id = r.thread_id
  WHERE r.owner_id = p_owner AND r.run_ref = p_ref
$$;

CREATE FUNCTION runnel_lock_or_make_thread(p_owner text, p_thread_ref text, p_country text, p_now bigint)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  v_thread bigint;
BEGIN
  LOOP
    SELECT id INTO v_thread FROM agent_chat_sessions WHERE owner_id = p_owner AND thread_ref = p_thread_ref
    FOR NO KEY UPDATE;
    IF FOUND THEN RETURN v_thread; END IF;
    INSERT INTO agent_chat_sessions(owner_id, thread_ref, billing_country_snapshot, created_at, updated_at)
    VALUES (p_owner, p_thread_ref, p_country, p_now, p_now) ON CONFLICT DO NOTHING RETURNING id INTO v_thread;
    IF FOUND THEN RETURN v_thread; END IF;
  END LOOP;
END $$;

CREATE FUNCTION runnel_admit(p_owner text, p_thread_ref text, p_ref text, p_policy text, p_mode text, p_hash text,
                             p_input text, p_agui text, p_country text, p_node text, p_now bigint, p_begin json)
RETURNS TABLE (outcome text, run bigint, thread bigint, thread_ref text, epoch bigint, status text,
               cancel_first bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_thread bigint;
  v_active bigint;
  v_run bigint;
  v_queue bigint;
  v_epoch bigint := 0;
BEGIN
  RETURN QUERY SELECT * FROM runnel_admitted_before(p_owner, p_ref, p_hash);
  IF FOUND THEN RETURN; END IF;

  v_thread := runnel_lock_or_make_thread(p_owner, p_thread_ref, p_country, p_now);
  -- Another admit of this run may have come first while we waited for the thread, perhaps on another thread: begin
  -- again, so that a thread made for nothing goes, and find it.
  IF EXISTS (SELECT 1 FROM runs WHERE owner_id = p_owner AND run_ref = p_ref) THEN
    RAISE EXCEPTION 'two admits of one run' USING ERRCODE = '40001';
  END IF;

  SELECT id INTO v_active FROM runs
  WHERE thread_id = v_thread AND status IN ('pending','running','awaiting_approval');
  IF v_active IS NULL THEN
    v_epoch := greatest(1, p_now);
  ELSIF p_policy = 'reject' THEN
    RETURN QUERY SELECT 'thread_busy', 0::bigint, v_thread, p_thread_ref, 0::bigint, 'running', NULL::bigint;
    RETURN;
  ELSE
    SELECT CASE WHEN p_policy = 'enqueue' THEN coalesce(max(queue_no), 0) + 1 ELSE coalesce(min(queue_no), 0) - 1 END
    INTO v_queue FROM runs WHERE thread_id = v_thread AND status = 'queued';
  END IF;

  INSERT INTO runs(owner_id, run_ref, thread_id, status, mode, queue_no, epoch, node, input_hash, agui_version,
                   created_at, started_at)
  VALUES (p_owner, p_ref, v_thread, CASE WHEN v_active IS NULL THEN 'running' ELSE 'queued' END, p_mode, v_queue,
          v_epoch, CASE WHEN v_active IS NULL THEN p_node END, p_hash, p_agui, p_now,
          CASE WHEN v_active IS NULL THEN p_now END)
  ON CONFLICT (owner_id, run_ref) DO NOTHING RETURNING id INTO v_run;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'two admits of one run' USING ERRCODE = '40001';
  END IF;
  INSERT INTO run_inputs(run_id, input) VALUES (v_run, p_input);

  IF v_active IS NULL THEN
    INSERT INTO run_epochs(run_id, epoch, first_n) VALUES (v_run, v_epoch, 1);
    PERFORM runnel_write_begin(v_run, v_thread, p_ref, v_epoch, false, p_begin, p_now);
    PERFORM runnel_set_thread_status(v_thread, 'running', p_now);
    RETURN QUERY SELECT 'running', v_run, v_thread, p_thread_ref, v_epoch, 'running', NULL::bigint;
    RETURN;
  END IF;

  IF p_policy <> 'enqueue' THEN
    UPDATE runs SET cancel_at = coalesce(cancel_at, p_now), rolled_back = rolled_back OR p_policy = 'rollback'
    WHERE id = v_active;
  END IF;
  IF p_policy = 'rollback' THEN
    UPDATE agent_chat_messages SET visibility_mask = 0 WHERE run_id = v_active;
  END IF;
  RETURN QUERY SELECT 'queued', v_run, v_thread, p_thread_ref, 0::bigint, 'queued',
                      CASE WHEN p_policy <> 'enqueue' THEN v_active END;
END $$;

-- Its id is null where there is no such run.
CREATE FUNCTION runnel_lock_run(p_run bigint) RETURNS runs
LANGUAGE plpgsql AS $$
DECLARE
  v_run runs;
BEGIN
  PERFORM 1 FROM agent_chat_sessions WHERE id = (SELECT thread_id FROM runs WHERE id = p_run) FOR NO KEY UPDATE;
  SELECT * INTO v_run FROM runs WHERE id = p_run FOR NO KEY UPDATE;
  RETURN v_run;
END $$;

CREATE FUNCTION runnel_claim(p_run bigint, p_node text, p_now bigint, p_begin json)
RETURNS TABLE (epoch bigint, previous_epoch bigint, last_n bigint, next_idx bigint, cancel_requested boolean)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_run runs := runnel_lock_run(p_run);
  v_epoch bigint := greatest(v_run.epoch + 1, p_now);
BEGIN
  IF v_run.id IS NULL THEN
    RAISE EXCEPTION 'claim of a run that does not exist' USING ERRCODE = 'RN003';
  END IF;
  IF v_run.status NOT IN ('pending','running') THEN
    RAISE EXCEPTION 'claim of run %, which is %', v_run.run_ref, v_run.status USING ERRCODE = 'RN002';
  END IF;
  IF v_run.last_n = 0 AND p_begin IS NULL THEN
    RAISE EXCEPTION 'claim of run %, which has not begun, without its beginning', v_run.run_ref
    USING ERRCODE = 'RN004';
  END IF;
  UPDATE runs SET status = 'running', epoch = v_epoch, node = p_node, started_at = coalesce(started_at, p_now)
  WHERE id = p_run;
  INSERT INTO run_epochs(run_id, epoch, first_n) VALUES (p_run, v_epoch, v_run.last_n + 1);
  IF v_run.last_n = 0 THEN
    PERFORM runnel_write_begin(p_run, v_run.thread_id, v_run.run_ref, v_epoch, v_run.rolled_back, p_begin, p_now);
  END IF;
  PERFORM runnel_set_thread_status(v_run.thread_id, 'running', p_now);
  RETURN QUERY SELECT r.epoch, v_run.epoch, r.last_n, r.next_idx, r.cancel_at IS NOT NULL FROM runs r WHERE r.id = p_run;
END $$;

-- True: written. False: the log already holds exactly this batch.
CREATE FUNCTION runnel_append(p_run bigint, p_epoch bigint, p_first_n bigint, p_last_n bigint, p_next_idx bigint,
                              p_body text, p_messages json, p_now bigint) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  v_thread bigint;
  v_rolled_back boolean;
BEGIN
  UPDATE runs SET last_n = p_last_n, next_idx = p_next_idx
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

-- The promoted run, or null.
CREATE FUNCTION runnel_end(p_run bigint, p_epoch bigint, p_first_n bigint, p_last_n bigint, p_next_idx bigint,
                           p_body text, p_messages json, p_now bigint, p_status text, p_error_code text,
                           p_error_id text) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  v_run runs := runnel_lock_run(p_run);
  v_next bigint;
BEGIN
  IF NOT runnel_append(p_run, p_epoch, p_first_n, p_last_n, p_next_idx, p_body, p_messages, p_now) THEN
    IF v_run.status <> p_status THEN
      RAISE EXCEPTION 'run % has ended as %', v_run.run_ref, v_run.status USING ERRCODE = 'RN001';
    END IF;
    SELECT id INTO v_next FROM runs WHERE thread_id = v_run.thread_id AND status = 'pending';
    RETURN v_next;
  END IF;
  UPDATE runs SET status = p_status, ended_at = p_now, error_code = p_error_code, error_id = p_error_id
  WHERE id = p_run;
  IF v_run.rolled_back THEN
    UPDATE agent_chat_messages SET visibility_mask = 0 WHERE run_id = p_run;
  END IF;
  PERFORM runnel_set_thread_status(v_run.thread_id, CASE WHEN p_status = 'completed' THEN 'completed' ELSE 'failed' END,
                                   p_now);
  UPDATE runs SET status = 'pending', queue_no = NULL
  WHERE id = (SELECT id FROM runs WHERE thread_id = v_run.thread_id AND status = 'queued' ORDER BY queue_no LIMIT 1)
  RETURNING id INTO v_next;
  RETURN v_next;
END $$;

CREATE FUNCTION runnel_request_cancel(p_run bigint, p_now bigint) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
  v_run runs := runnel_lock_run(p_run);
BEGIN
  IF v_run.id IS NULL THEN
    RAISE EXCEPTION 'cancel of a run that does not exist' USING ERRCODE = 'RN003';
  END IF;
  UPDATE runs SET cancel_at = coalesce(cancel_at, p_now)
  WHERE id = p_run AND status IN ('pending','running','awaiting_approval');
  RETURN v_run.status;
END $$;

CREATE FUNCTION runnel_discard(p_run bigint, p_last_n bigint, p_next_idx bigint, p_body text, p_now bigint)
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
                  ended_at = p_now WHERE id = p_run;
END $$;

CREATE FUNCTION runnel_expire_logs(p_before bigint, p_limit bigint) RETURNS bigint
LANGUAGE sql AS $$
  WITH expired AS (
    UPDATE runs SET log_expired = true
    WHERE id IN (SELECT id FROM runs WHERE ended_at IS NOT NULL AND NOT log_expired AND ended_at < p_before
                 ORDER BY ended_at LIMIT p_limit FOR UPDATE SKIP LOCKED)
    RETURNING id
  ), gone AS (
    DELETE FROM log WHERE run_id IN (SELECT id FROM expired)
  )
  SELECT count(*) FROM expired
$$;

CREATE FUNCTION runnel_delete_thread(p_owner text, p_thread_ref text) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
  v_thread bigint;
BEGIN
  SELECT id INTO v_thread FROM agent_chat_sessions WHERE owner_id = p_owner AND thread_ref = p_thread_ref FOR UPDATE;
  IF NOT FOUND THEN RETURN 'not_found'; END IF;
  IF EXISTS (SELECT 1 FROM runs WHERE thread_id = v_thread AND ended_at IS NULL) THEN RETURN 'busy'; END IF;
  DELETE FROM agent_chat_sessions WHERE id = v_thread;
  RETURN 'deleted';
END $$;
)sql";

}  // namespace runnel::store::postgres

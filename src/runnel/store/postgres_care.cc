#include "runnel/store/postgres_schema.h"

// Admission that keeps to what a user may store (HTTP-9), and what deletes: at once for all who read, in
// pieces for the rows. A deleted thread, and a run of one whose id is used anew, belong to nobody: their
// owner is ''.
//
// Locks are taken in one order everywhere: the owner's, the thread's row, a run's, the sums'.
namespace runnel::store::postgres {

char const* const kCare = R"sql(
CREATE OR REPLACE FUNCTION runnel_admitted_before(p_owner text, p_ref text, p_hash text)
RETURNS TABLE (outcome text, run bigint, thread bigint, thread_ref text, epoch bigint, status text,
               cancel_first bigint)
LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN r.input_hash = p_hash THEN 'existing' ELSE 'id_conflict' END, r.id, r.thread_id, s.thread_ref,
         r.epoch, r.status, NULL::bigint
  FROM runs r JOIN agent_chat_sessions s ON s.id = r.thread_id
  WHERE r.owner_id = p_owner AND r.run_ref = p_ref AND s.owner_id <> ''
$$;

DROP FUNCTION runnel_admit_run;

-- p_quota: what the owner's ended runs may take up; 0 is no limit.
-- p_budgets is null where nothing is limited; there must be room for the least that a call can cost. p_max: 0 is no
-- limit. Admits of one owner that a number limits come one after the other, so that each counts those before it; that
-- lock is taken before any thread's row.
CREATE FUNCTION runnel_admit_run(p_budgets json, p_max bigint, p_quota bigint, p_owner text, p_thread_ref text,
                                 p_ref text, p_policy text, p_mode text, p_hash text, p_input text, p_agui text,
                                 p_country text, p_node text, p_now bigint, p_begin json)
RETURNS TABLE (outcome text, run bigint, thread bigint, thread_ref text, epoch bigint, status text,
               cancel_first bigint, profile text, stored bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_country text;
  v_profile text;
  v_thread bigint;
  v_active bigint;
  v_run bigint;
  v_queue bigint;
  v_epoch bigint := 0;
  v_stored bigint;
BEGIN
  IF p_max > 0 THEN
    PERFORM pg_advisory_xact_lock(72465, hashtext(p_owner));
  END IF;
  RETURN QUERY SELECT b.*, NULL, 0::bigint FROM runnel_admitted_before(p_owner, p_ref, p_hash) b;
  IF FOUND THEN RETURN; END IF;
  IF p_budgets IS NOT NULL THEN
    IF runnel_full_budget(p_budgets, p_owner, p_thread_ref, NULL, runnel_money(1)) IS NOT NULL THEN
      RETURN QUERY SELECT 'over_budget', 0::bigint, 0::bigint, p_thread_ref, 0::bigint, 'queued', NULL::bigint, NULL, 0::bigint;
      RETURN;
    END IF;
  END IF;
  IF p_max > 0 THEN
    IF (SELECT count(*) FROM (SELECT 1 FROM runs WHERE owner_id = p_owner AND ended_at IS NULL LIMIT p_max) c)
        >= p_max THEN
      RETURN QUERY SELECT 'too_many_runs', 0::bigint, 0::bigint, p_thread_ref, 0::bigint, 'queued', NULL::bigint, NULL, 0::bigint;
      RETURN;
    END IF;
  END IF;

  IF p_quota > 0 THEN
    SELECT bytes INTO v_stored FROM storage_totals WHERE owner_id = p_owner;
    IF v_stored >= p_quota THEN
      RETURN QUERY SELECT 'over_quota', 0::bigint, 0::bigint, p_thread_ref, 0::bigint, 'queued', NULL::bigint, NULL,
                          v_stored;
      RETURN;
    END IF;
  END IF;
  -- Read once: the thread's country and the run's profile are of one moment.
  SELECT p.country, json_build_object('username', p.username, 'bio', p.bio, 'settings', p.settings)::text
  INTO v_country, v_profile FROM profiles p WHERE p.user_id = p_owner;
  v_thread := runnel_lock_or_make_thread(p_owner, p_thread_ref, coalesce(v_country, p_country), p_now);
  -- Another admit of this run may have come first while we waited for the thread, perhaps on another thread: begin
  -- again, so that a thread made for nothing goes, and find it.
  IF EXISTS (SELECT 1 FROM runnel_admitted_before(p_owner, p_ref, p_hash)) THEN
    RAISE EXCEPTION 'two admits of one run' USING ERRCODE = '40001';
  END IF;

  SELECT id INTO v_active FROM runs
  WHERE thread_id = v_thread AND status IN ('pending','running','awaiting_approval');
  IF v_active IS NULL THEN
    v_epoch := greatest(1, p_now);
  ELSIF p_policy = 'reject' THEN
    RETURN QUERY SELECT 'thread_busy', v_active, v_thread, p_thread_ref, 0::bigint, 'running', NULL::bigint, NULL, 0::bigint;
    RETURN;
  ELSE
    SELECT CASE WHEN p_policy = 'enqueue' THEN coalesce(max(queue_no), 0) + 1 ELSE coalesce(min(queue_no), 0) - 1 END
    INTO v_queue FROM runs WHERE thread_id = v_thread AND status = 'queued';
  END IF;

  -- The id of a run whose thread was deleted is free again.
  UPDATE runs r SET owner_id = '', run_ref = r.id
  FROM agent_chat_sessions s
  WHERE r.owner_id = p_owner AND r.run_ref = p_ref AND s.id = r.thread_id AND s.owner_id = '';

  INSERT INTO runs(owner_id, run_ref, thread_id, status, mode, queue_no, epoch, node, input_hash, agui_version,
                   created_at, started_at, profile, kept_bytes)
  VALUES (p_owner, p_ref, v_thread, CASE WHEN v_active IS NULL THEN 'running' ELSE 'queued' END, p_mode, v_queue,
          v_epoch, CASE WHEN v_active IS NULL THEN p_node END, p_hash, p_agui, p_now,
          CASE WHEN v_active IS NULL THEN p_now END, v_profile, octet_length(p_input))
  ON CONFLICT (owner_id, run_ref) DO NOTHING RETURNING id INTO v_run;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'two admits of one run' USING ERRCODE = '40001';
  END IF;
  INSERT INTO run_inputs(run_id, input) VALUES (v_run, p_input);

  IF v_active IS NULL THEN
    INSERT INTO run_epochs(run_id, epoch, first_n) VALUES (v_run, v_epoch, 1);
    PERFORM runnel_write_begin(v_run, v_thread, p_ref, v_epoch, false, p_begin, p_now);
    PERFORM runnel_set_thread_status(v_thread, 'running', p_now);
    RETURN QUERY SELECT 'running', v_run, v_thread, p_thread_ref, v_epoch, 'running', NULL::bigint, v_profile,
                        0::bigint;
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
                      CASE WHEN p_policy <> 'enqueue' THEN v_active END, v_profile, 0::bigint;
END $$;

CREATE OR REPLACE FUNCTION runnel_expire_logs(p_before bigint, p_limit bigint) RETURNS bigint
LANGUAGE sql AS $$
  WITH expired AS (
    UPDATE runs SET log_expired = true
    WHERE id IN (SELECT id FROM runs WHERE ended_at IS NOT NULL AND NOT log_expired AND ended_at < p_before
                 ORDER BY ended_at LIMIT p_limit FOR UPDATE SKIP LOCKED)
    RETURNING id
  )
  SELECT count(*) FROM expired
$$;

CREATE OR REPLACE FUNCTION runnel_delete_thread(p_owner text, p_thread_ref text) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
  v_thread bigint;
BEGIN
  SELECT id INTO v_thread FROM agent_chat_sessions WHERE owner_id = p_owner AND thread_ref = p_thread_ref FOR UPDATE;
  IF NOT FOUND THEN RETURN 'not_found'; END IF;
  IF EXISTS (SELECT 1 FROM runs WHERE thread_id = v_thread AND ended_at IS NULL) THEN RETURN 'busy'; END IF;
  UPDATE agent_chat_sessions SET owner_id = '', thread_ref = id WHERE id = v_thread;
  INSERT INTO purges(thread_id) VALUES (v_thread);
  RETURN 'deleted';
END $$;

-- Up to p_limit rows of the run's log and checkpoints.
CREATE FUNCTION runnel_purge_log(p_run bigint, p_limit bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  v_rows bigint;
BEGIN
  DELETE FROM log WHERE ctid = ANY (ARRAY(SELECT ctid FROM log WHERE run_id = p_run LIMIT p_limit));
  GET DIAGNOSTICS v_rows = ROW_COUNT;
  IF v_rows > 0 THEN RETURN v_rows; END IF;
  DELETE FROM checkpoints
  WHERE ctid = ANY (ARRAY(SELECT ctid FROM checkpoints WHERE run_id = p_run LIMIT p_limit));
  GET DIAGNOSTICS v_rows = ROW_COUNT;
  RETURN v_rows;
END $$;

-- Likewise of all that the run has; in the end the run itself.
CREATE FUNCTION runnel_purge_run(p_run bigint, p_limit bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  v_rows bigint := runnel_purge_log(p_run, p_limit);
BEGIN
  IF v_rows > 0 THEN RETURN v_rows; END IF;
  DELETE FROM agent_chat_messages
  WHERE ctid = ANY (ARRAY(SELECT ctid FROM agent_chat_messages WHERE run_id = p_run LIMIT p_limit));
  GET DIAGNOSTICS v_rows = ROW_COUNT;
  IF v_rows > 0 THEN RETURN v_rows; END IF;
  DELETE FROM tickets WHERE hash = ANY (ARRAY(SELECT hash FROM tickets WHERE run_id = p_run LIMIT p_limit));
  GET DIAGNOSTICS v_rows = ROW_COUNT;
  IF v_rows > 0 THEN RETURN v_rows; END IF;
  UPDATE model_calls SET run_id = NULL
  WHERE row_no = ANY (ARRAY(SELECT row_no FROM model_calls WHERE run_id = p_run LIMIT p_limit));
  GET DIAGNOSTICS v_rows = ROW_COUNT;
  IF v_rows > 0 THEN RETURN v_rows; END IF;
  DELETE FROM runs WHERE id = p_run;
  GET DIAGNOSTICS v_rows = ROW_COUNT;
  RETURN v_rows;
END $$;

-- A step of one entry; in the end the entry itself. Returns how many rows went, at least one.
CREATE FUNCTION runnel_purge_step(p_purge purges) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  v_run bigint;
  v_rows bigint := 0;
BEGIN
  IF p_purge.run_id IS NOT NULL THEN
    v_rows := runnel_purge_log(p_purge.run_id, 64);
    IF v_rows = 0 THEN
      UPDATE runs SET log_bytes = 0 WHERE id = p_purge.run_id;
    END IF;
  ELSE
    SELECT id INTO v_run FROM runs WHERE thread_id = p_purge.thread_id LIMIT 1;
    IF FOUND THEN
      v_rows := runnel_purge_run(v_run, 64);
    ELSE
      DELETE FROM agent_chat_sessions WHERE id = p_purge.thread_id;
    END IF;
  END IF;
  IF v_rows > 0 THEN RETURN v_rows; END IF;
  DELETE FROM purges WHERE number = p_purge.number;
  RETURN 1;
END $$;

-- A piece of what is to be deleted: about p_limit rows or p_ms milliseconds. A row of the answer says how many rows
-- went, and one each which entries could not be deleted, and why: those are behind all others now. None is tried twice
-- in a piece. What may be over in a moment (a deadlock, a full disk, a shutdown) is no fault of an entry.
CREATE FUNCTION runnel_purge(p_limit bigint, p_ms bigint)
RETURNS TABLE (deleted bigint, stuck_run bigint, stuck_thread bigint, why text)
LANGUAGE plpgsql AS $$
DECLARE
  v_deadline timestamptz := clock_timestamp() + p_ms * interval '1 millisecond';
  v_purge purges;
  v_rows bigint := 0;
  v_number bigint;
  v_first_passed_over bigint := 9223372036854775807;
BEGIN
  LOOP
    SELECT * INTO v_purge FROM purges WHERE number < v_first_passed_over
    ORDER BY number LIMIT 1 FOR UPDATE SKIP LOCKED;
    EXIT WHEN NOT FOUND;
    BEGIN
      v_rows := v_rows + runnel_purge_step(v_purge);
    EXCEPTION WHEN OTHERS THEN
      IF left(SQLSTATE, 2) IN ('40', '53', '57') THEN RAISE; END IF;
      deleted := 0;
      stuck_run := v_purge.run_id;
      stuck_thread := v_purge.thread_id;
      why := SQLERRM;
      RETURN NEXT;
      UPDATE purges SET number = DEFAULT WHERE number = v_purge.number RETURNING number INTO v_number;
      v_first_passed_over := least(v_first_passed_over, v_number);
    END;
    EXIT WHEN v_rows >= p_limit OR clock_timestamp() >= v_deadline;
  END LOOP;
  deleted := v_rows;
  stuck_run := NULL;
  stuck_thread := NULL;
  why := NULL;
  RETURN NEXT;
END $$;

CREATE OR REPLACE FUNCTION runnel_put_ticket(p_hash text, p_owner text, p_kind text, p_thread_ref text, p_ref text,
                                             p_now bigint, p_good_until bigint, p_expires_at bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_run bigint;
BEGIN
  IF p_kind = 'sse' THEN
    SELECT r.id INTO v_run FROM runs r JOIN agent_chat_sessions s ON s.id = r.thread_id
    WHERE r.owner_id = p_owner AND r.run_ref = p_ref AND s.thread_ref = p_thread_ref AND s.owner_id <> ''
    FOR KEY SHARE OF r;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'a ticket for a run that does not exist' USING ERRCODE = 'RN003';
    END IF;
  END IF;
  INSERT INTO tickets(hash, owner_id, kind, run_id, created_at, good_until, expires_at)
  VALUES (p_hash, p_owner, p_kind, v_run, p_now, p_good_until, p_expires_at) ON CONFLICT (hash) DO NOTHING;
END $$;
)sql";

}  // namespace runnel::store::postgres

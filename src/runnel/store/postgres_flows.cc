#include "runnel/store/postgres_schema.h"

// Profiles (FLOW-5), what a run keeps of its owner's, and the points that a run goes on from (RUN-12): the
// same tables and rules as in sqlite_schema.cc.
namespace runnel::store::postgres {

char const* const kFlows = R"sql(
CREATE TABLE profiles(
  user_id text PRIMARY KEY REFERENCES users(id) ON DELETE CASCADE,
  username text NOT NULL,
  bio text NOT NULL,
  settings jsonb CONSTRAINT chk_profile_settings CHECK (jsonb_typeof(settings) = 'object'),
  country varchar(2),
  updated_at bigint NOT NULL
);

ALTER TABLE runs ADD COLUMN profile text;

CREATE TABLE checkpoints(
  run_id bigint NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  number bigint NOT NULL CONSTRAINT chk_checkpoint_number CHECK (number >= 1),
  stage text NOT NULL,
  kind text NOT NULL CONSTRAINT chk_checkpoint_kind CHECK (kind <> ''),
  body json NOT NULL CONSTRAINT chk_checkpoint_body CHECK (json_typeof(body) = 'object'),
  PRIMARY KEY (run_id, number)
);

-- What the functions below take the place of.
DROP FUNCTION runnel_admit_funded, runnel_admit_within, runnel_admit, runnel_append_settling, runnel_end_settling;

-- p_budgets is null where nothing is limited; there must be room for the least that a call can cost. p_max: 0 is no
-- limit. Admits of one owner that a number limits come one after the other, so that each counts those before it; that
-- lock is taken before any thread's row.
CREATE FUNCTION runnel_admit_run(p_budgets json, p_max bigint, p_owner text, p_thread_ref text, p_ref text,
                                 p_policy text, p_mode text, p_hash text, p_input text, p_agui text, p_country text,
                                 p_node text, p_now bigint, p_begin json)
RETURNS TABLE (outcome text, run bigint, thread bigint, thread_ref text, epoch bigint, status text,
               cancel_first bigint, profile text)
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
BEGIN
  IF p_max > 0 THEN
    PERFORM pg_advisory_xact_lock(72465, hashtext(p_owner));
  END IF;
  RETURN QUERY SELECT b.*, NULL FROM runnel_admitted_before(p_owner, p_ref, p_hash) b;
  IF FOUND THEN RETURN; END IF;
  IF p_budgets IS NOT NULL THEN
    IF runnel_full_budget(p_budgets, p_owner, p_thread_ref, NULL, runnel_money(1)) IS NOT NULL THEN
      RETURN QUERY SELECT 'over_budget', 0::bigint, 0::bigint, p_thread_ref, 0::bigint, 'queued', NULL::bigint, NULL;
      RETURN;
    END IF;
  END IF;
  IF p_max > 0 THEN
    IF (SELECT count(*) FROM (SELECT 1 FROM runs WHERE owner_id = p_owner AND ended_at IS NULL LIMIT p_max) c)
        >= p_max THEN
      RETURN QUERY SELECT 'too_many_runs', 0::bigint, 0::bigint, p_thread_ref, 0::bigint, 'queued', NULL::bigint, NULL;
      RETURN;
    END IF;
  END IF;

  -- Read once: the thread's country and the run's profile are of one moment.
  SELECT p.country, json_build_object('username', p.username, 'bio', p.bio, 'settings', p.settings)::text
  INTO v_country, v_profile FROM profiles p WHERE p.user_id = p_owner;
  v_thread := runnel_lock_or_make_thread(p_owner, p_thread_ref, coalesce(v_country, p_country), p_now);
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
    RETURN QUERY SELECT 'thread_busy', v_active, v_thread, p_thread_ref, 0::bigint, 'running', NULL::bigint, NULL;
    RETURN;
  ELSE
    SELECT CASE WHEN p_policy = 'enqueue' THEN coalesce(max(queue_no), 0) + 1 ELSE coalesce(min(queue_no), 0) - 1 END
    INTO v_queue FROM runs WHERE thread_id = v_thread AND status = 'queued';
  END IF;

  INSERT INTO runs(owner_id, run_ref, thread_id, status, mode, queue_no, epoch, node, input_hash, agui_version,
                   created_at, started_at, profile)
  VALUES (p_owner, p_ref, v_thread, CASE WHEN v_active IS NULL THEN 'running' ELSE 'queued' END, p_mode, v_queue,
          v_epoch, CASE WHEN v_active IS NULL THEN p_node END, p_hash, p_agui, p_now,
          CASE WHEN v_active IS NULL THEN p_now END, v_profile)
  ON CONFLICT (owner_id, run_ref) DO NOTHING RETURNING id INTO v_run;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'two admits of one run' USING ERRCODE = '40001';
  END IF;
  INSERT INTO run_inputs(run_id, input) VALUES (v_run, p_input);

  IF v_active IS NULL THEN
    INSERT INTO run_epochs(run_id, epoch, first_n) VALUES (v_run, v_epoch, 1);
    PERFORM runnel_write_begin(v_run, v_thread, p_ref, v_epoch, false, p_begin, p_now);
    PERFORM runnel_set_thread_status(v_thread, 'running', p_now);
    RETURN QUERY SELECT 'running', v_run, v_thread, p_thread_ref, v_epoch, 'running', NULL::bigint, v_profile;
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
                      CASE WHEN p_policy <> 'enqueue' THEN v_active END, v_profile;
END $$;

-- p_checkpoints: a JSON array, postgres_runs.cc's, without gaps. The caller holds the run's row.
CREATE FUNCTION runnel_insert_checkpoints(p_run bigint, p_checkpoints json) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_first bigint := p_checkpoints->0->>'number';
  v_last bigint;
BEGIN
  SELECT coalesce(max(number), 0) INTO v_last FROM checkpoints WHERE run_id = p_run;
  IF v_first <> v_last + 1 THEN
    RAISE EXCEPTION 'checkpoint % of run key %, whose last is %', v_first, p_run, v_last USING ERRCODE = 'RN004';
  END IF;
  INSERT INTO checkpoints(run_id, number, stage, kind, body)
  SELECT p_run, c.number, c.stage, c.kind, c.body::json
  FROM json_to_recordset(p_checkpoints) AS c(number bigint, stage text, kind text, body text);
END $$;

-- What may come with a batch of facts, each null where there is none of it.
CREATE FUNCTION runnel_write_beside_facts(p_run bigint, p_ends json, p_bookings json, p_checkpoints json) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  IF p_ends IS NOT NULL OR p_bookings IS NOT NULL THEN
    PERFORM runnel_settle_calls(p_run, p_ends, p_bookings);
  END IF;
  IF p_checkpoints IS NOT NULL THEN
    PERFORM runnel_insert_checkpoints(p_run, p_checkpoints);
  END IF;
END $$;

CREATE FUNCTION runnel_append_with(p_run bigint, p_epoch bigint, p_first_n bigint, p_last_n bigint, p_next_idx bigint,
                                   p_body text, p_messages json, p_now bigint, p_ends json, p_bookings json,
                                   p_checkpoints json) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  IF runnel_append(p_run, p_epoch, p_first_n, p_last_n, p_next_idx, p_body, p_messages, p_now) THEN
    PERFORM runnel_write_beside_facts(p_run, p_ends, p_bookings, p_checkpoints);
  END IF;
END $$;

-- The promoted run, or null. A run that has ended already is left as it is.
CREATE FUNCTION runnel_end_with(p_run bigint, p_epoch bigint, p_first_n bigint, p_last_n bigint, p_next_idx bigint,
                                p_body text, p_messages json, p_now bigint, p_status text, p_error_code text,
                                p_error_id text, p_ends json, p_bookings json, p_checkpoints json) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  v_before runs := runnel_lock_run(p_run);
  v_next bigint := runnel_end(p_run, p_epoch, p_first_n, p_last_n, p_next_idx, p_body, p_messages, p_now, p_status,
                              p_error_code, p_error_id);
BEGIN
  IF v_before.ended_at IS NULL THEN
    PERFORM runnel_write_beside_facts(p_run, p_ends, p_bookings, p_checkpoints);
    UPDATE model_calls
    SET status = 'interrupted', ended_at = p_now, input_tokens = input_estimate, total_tokens = input_estimate,
        catalog_cost = cost_estimate, cost = cost_estimate
    WHERE run_id = p_run AND status = 'open';
  END IF;
  RETURN v_next;
END $$;

CREATE OR REPLACE FUNCTION runnel_expire_logs(p_before bigint, p_limit bigint) RETURNS bigint
LANGUAGE sql AS $$
  WITH expired AS (
    UPDATE runs SET log_expired = true
    WHERE id IN (SELECT id FROM runs WHERE ended_at IS NOT NULL AND NOT log_expired AND ended_at < p_before
                 ORDER BY ended_at LIMIT p_limit FOR UPDATE SKIP LOCKED)
    RETURNING id
  ), gone AS (
    DELETE FROM log WHERE run_id IN (SELECT id FROM expired)
  ), passed AS (
    DELETE FROM checkpoints WHERE run_id IN (SELECT id FROM expired)
  )
  SELECT count(*) FROM expired
$$;
)sql";

}  // namespace runnel::store::postgres

#include "runnel/store/postgres_schema.h"

// How writers leave a run: by an end that gives way to an accepted cancel (RUN-4), by a release, by a crash
// that the next claim counts, or for good where nobody can go on (RUN-12). The same rules as in
// sqlite_intents_begin.cc and sqlite_intents_write.cc.
namespace runnel::store::postgres {

char const* const kEndings = R"sql(
ALTER TABLE runs ADD COLUMN released boolean NOT NULL DEFAULT false;
ALTER TABLE runs ADD COLUMN crashes bigint NOT NULL DEFAULT 0;

DROP FUNCTION runnel_claim;

-- A writer that left without releasing the run, and had written something, counts as a crash.
CREATE FUNCTION runnel_claim_run(p_run bigint, p_node text, p_now bigint, p_begin json)
RETURNS TABLE (epoch bigint, previous_epoch bigint, last_n bigint, next_idx bigint, cancel_requested boolean,
               crashes bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_run runs := runnel_lock_run(p_run);
  v_epoch bigint := greatest(v_run.epoch + 1, p_now);
  v_wrote boolean;
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
  SELECT e.first_n <= v_run.last_n INTO v_wrote FROM run_epochs e WHERE e.run_id = p_run AND e.epoch = v_run.epoch;
  UPDATE runs r SET status = 'running', epoch = v_epoch, node = p_node, started_at = coalesce(r.started_at, p_now),
                    released = false,
                    crashes = r.crashes + CASE WHEN coalesce(v_wrote, false) AND NOT r.released THEN 1 ELSE 0 END
  WHERE r.id = p_run;
  INSERT INTO run_epochs(run_id, epoch, first_n) VALUES (p_run, v_epoch, v_run.last_n + 1);
  IF v_run.last_n = 0 THEN
    PERFORM runnel_write_begin(p_run, v_run.thread_id, v_run.run_ref, v_epoch, v_run.rolled_back, p_begin, p_now);
  END IF;
  PERFORM runnel_set_thread_status(v_run.thread_id, 'running', p_now);
  RETURN QUERY SELECT r.epoch, v_run.epoch, r.last_n, r.next_idx, r.cancel_at IS NOT NULL, r.crashes
               FROM runs r WHERE r.id = p_run;
END $$;

-- The run has got somewhere: whatever its earlier writers died of, it was not this.
CREATE OR REPLACE FUNCTION runnel_insert_checkpoints(p_run bigint, p_checkpoints json) RETURNS void
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
  UPDATE runs SET crashes = 0, log_bytes = log_bytes
    + (SELECT sum(octet_length(c->>'body')) FROM json_array_elements(p_checkpoints) AS c)
  WHERE id = p_run;
END $$;

-- Two endings of one run, the second for one whose cancel was accepted; the answer says whether it was that. A repeat
-- goes the way that the first one went: runnel_end_with finds its facts in the log.
CREATE FUNCTION runnel_end_unless_canceled(
  p_run bigint, p_epoch bigint, p_first_n bigint, p_now bigint,
  p_last_n bigint, p_next_idx bigint, p_body text, p_messages json, p_ends json, p_bookings json, p_checkpoints json,
  p_status text, p_error_code text, p_error_id text,
  c_last_n bigint, c_next_idx bigint, c_body text, c_messages json, c_ends json, c_bookings json, c_checkpoints json,
  c_error_code text)
RETURNS TABLE (promoted bigint, canceled boolean)
LANGUAGE plpgsql AS $$
DECLARE
  v_run runs := runnel_lock_run(p_run);
  v_canceled boolean := CASE WHEN v_run.ended_at IS NULL THEN v_run.cancel_at IS NOT NULL
                             ELSE v_run.status = 'canceled' END;
BEGIN
  IF v_canceled THEN
    RETURN QUERY SELECT runnel_end_with(p_run, p_epoch, p_first_n, c_last_n, c_next_idx, c_body, c_messages, p_now,
                                        'canceled', c_error_code, NULL, c_ends, c_bookings, c_checkpoints), true;
  ELSE
    RETURN QUERY SELECT runnel_end_with(p_run, p_epoch, p_first_n, p_last_n, p_next_idx, p_body, p_messages, p_now,
                                        p_status, p_error_code, p_error_id, p_ends, p_bookings, p_checkpoints), false;
  END IF;
END $$;

-- Where a run's log ends, whatever its rows hold.
CREATE FUNCTION runnel_log_end(p_run bigint)
RETURNS TABLE (epoch bigint, last_n bigint, next_idx bigint, status text)
LANGUAGE sql STABLE AS $$
  SELECT r.epoch, greatest(r.last_n, (SELECT max(l.last_n) FROM log l WHERE l.run_id = r.id)), r.next_idx, r.status
  FROM runs r WHERE r.id = p_run
$$;

-- The promoted run, or null. The end of a run that no writer can go on with.
CREATE FUNCTION runnel_force_end(p_run bigint, p_node text, p_seen_epoch bigint, p_log_is_lost boolean,
                                 p_first_n bigint, p_last_n bigint, p_next_idx bigint, p_body text, p_messages json,
                                 p_now bigint, p_status text, p_error_code text, p_error_id text, p_ends json,
                                 p_bookings json) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  v_run runs := runnel_lock_run(p_run);
  v_epoch bigint := greatest(v_run.epoch + 1, p_now);
  v_next bigint;
BEGIN
  IF v_run.id IS NULL THEN
    RAISE EXCEPTION 'the end of a run that does not exist' USING ERRCODE = 'RN003';
  END IF;
  IF v_run.ended_at IS NOT NULL AND EXISTS (
    SELECT 1 FROM log WHERE run_id = p_run AND first_n = p_first_n AND last_n = p_last_n AND epoch = v_run.epoch
                        AND body = p_body) THEN
    SELECT id INTO v_next FROM runs WHERE thread_id = v_run.thread_id AND status = 'pending';
    RETURN v_next;
  END IF;
  IF v_run.status NOT IN ('pending','running') OR v_run.epoch <> p_seen_epoch
     OR p_first_n <> (SELECT e.last_n + 1 FROM runnel_log_end(p_run) e) THEN
    RAISE EXCEPTION 'the end of run %, which has changed meanwhile', v_run.run_ref USING ERRCODE = 'RN002';
  END IF;
  INSERT INTO run_epochs(run_id, epoch, first_n) VALUES (p_run, v_epoch, p_first_n);
  UPDATE runs SET status = 'running', epoch = v_epoch, node = p_node, started_at = coalesce(started_at, p_now),
                  last_n = p_first_n - 1, log_expired = p_log_is_lost
  WHERE id = p_run;
  RETURN runnel_end_with(p_run, v_epoch, p_first_n, p_last_n, p_next_idx, p_body, p_messages, p_now, p_status,
                         p_error_code, p_error_id, p_ends, p_bookings, NULL);
END $$;
)sql";

}  // namespace runnel::store::postgres

-- The tool calls of runs. The comments of the SQLite step apply here too.
CREATE TABLE tool_calls(
  run_id bigint NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  id text NOT NULL CONSTRAINT chk_tool_call_id CHECK (id <> ''),
  name text NOT NULL,
  args_hash text NOT NULL CONSTRAINT chk_tool_call_hash CHECK (length(args_hash) = 64),
  epoch bigint NOT NULL,
  status text NOT NULL DEFAULT 'open' CONSTRAINT chk_tool_call_status CHECK (status IN ('open','closed')),
  receipt text,
  started_at bigint NOT NULL,
  ended_at bigint,
  PRIMARY KEY (run_id, id),
  CONSTRAINT chk_tool_call_ended_at CHECK ((status = 'open') = (ended_at IS NULL)),
  CONSTRAINT chk_tool_call_receipt CHECK (status = 'open' OR receipt IS NULL)
) WITH (fillfactor = 70);

CREATE TRIGGER trg_tool_call_opening_frozen
BEFORE UPDATE OF run_id, id, name, args_hash, started_at ON tool_calls FOR EACH ROW
EXECUTE FUNCTION runnel_refuse_call_change('what a tool call was started with is frozen');

CREATE TRIGGER trg_tool_call_closes_once
BEFORE UPDATE OF epoch, status, ended_at, receipt ON tool_calls FOR EACH ROW
WHEN (OLD.status <> 'open')
EXECUTE FUNCTION runnel_refuse_call_change('a tool call is closed once');

CREATE TRIGGER trg_tool_call_takes_effect_once
BEFORE UPDATE OF receipt ON tool_calls FOR EACH ROW
WHEN (OLD.receipt IS NOT NULL AND NEW.receipt IS NOT NULL)
EXECUTE FUNCTION runnel_refuse_call_change('a tool call takes effect once');

CREATE FUNCTION runnel_take_over_tool_calls() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE tool_calls SET epoch = NEW.epoch WHERE run_id = NEW.id AND status = 'open';
  RETURN NULL;
END $$;

CREATE TRIGGER trg_tool_calls_taken_over AFTER UPDATE OF epoch ON runs FOR EACH ROW
WHEN (NEW.epoch <> OLD.epoch)
EXECUTE FUNCTION runnel_take_over_tool_calls();

CREATE FUNCTION runnel_close_tool_calls() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE tool_calls SET status = 'closed', ended_at = NEW.ended_at, receipt = NULL
  WHERE run_id = NEW.id AND status = 'open';
  RETURN NULL;
END $$;

CREATE TRIGGER trg_tool_calls_closed AFTER UPDATE OF ended_at ON runs FOR EACH ROW
WHEN (OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL)
EXECUTE FUNCTION runnel_close_tool_calls();

-- runnel_append_with for facts that start or end tool calls. p_tool_starts: [{id, name, args_hash}]; p_tool_ends: [id].
-- Either is null if there is none.
CREATE FUNCTION runnel_append_tool_calls(p_run bigint, p_epoch bigint, p_first_n bigint, p_last_n bigint,
                                         p_next_idx bigint, p_body text, p_messages json, p_now bigint, p_ends json,
                                         p_bookings json, p_checkpoints json, p_tool_starts json, p_tool_ends json)
RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_changed bigint;
BEGIN
  IF NOT runnel_append(p_run, p_epoch, p_first_n, p_last_n, p_next_idx, p_body, p_messages, p_now) THEN
    RETURN;
  END IF;
  PERFORM runnel_write_beside_facts(p_run, p_ends, p_bookings, p_checkpoints);

  INSERT INTO tool_calls(run_id, id, name, args_hash, epoch, started_at)
  SELECT p_run, s.id, s.name, s.args_hash, p_epoch, p_now
  FROM json_to_recordset(p_tool_starts) AS s(id text, name text, args_hash text)
  ON CONFLICT DO NOTHING;
  GET DIAGNOSTICS v_changed = ROW_COUNT;
  IF v_changed <> coalesce(json_array_length(p_tool_starts), 0) THEN
    RAISE EXCEPTION 'the start of a tool call that has been started' USING ERRCODE = 'RN004';
  END IF;

  UPDATE tool_calls SET status = 'closed', ended_at = p_now, receipt = NULL
  WHERE run_id = p_run AND status = 'open' AND id IN (SELECT json_array_elements_text(p_tool_ends));
  GET DIAGNOSTICS v_changed = ROW_COUNT;
  IF v_changed <> coalesce(json_array_length(p_tool_ends), 0) THEN
    RAISE EXCEPTION 'the end of a tool call that is not open or not this run''s' USING ERRCODE = 'RN004';
  END IF;
END $$;

-- Deletes up to p_limit rows of the run's log, checkpoints or tool calls, and returns how many.
CREATE OR REPLACE FUNCTION runnel_purge_log(p_run bigint, p_limit bigint) RETURNS bigint
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
  IF v_rows > 0 THEN RETURN v_rows; END IF;
  DELETE FROM tool_calls
  WHERE ctid = ANY (ARRAY(SELECT ctid FROM tool_calls WHERE run_id = p_run LIMIT p_limit));
  GET DIAGNOSTICS v_rows = ROW_COUNT;
  RETURN v_rows;
END $$;

-- The ids under which runs go on after a pause. The comments of the SQLite step apply here too.
CREATE TABLE run_aliases(
  owner_id text NOT NULL,
  alias text NOT NULL CONSTRAINT chk_run_alias CHECK (alias <> ''),
  run_id bigint NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  call_id text NOT NULL,
  after_epoch bigint NOT NULL,
  after_n bigint NOT NULL,
  PRIMARY KEY (owner_id, alias)
);
CREATE UNIQUE INDEX uq_run_aliases_call ON run_aliases(run_id, call_id);

-- Whoever gives an id to a run or to an alias holds this lock until its transaction ends, so that of two at once, one
-- sees the other. It is taken before any row is locked.
CREATE FUNCTION runnel_lock_run_ref(p_owner text, p_ref text) RETURNS void
LANGUAGE sql AS $$ SELECT pg_advisory_xact_lock(72466, hashtext(p_owner || ' ' || p_ref)) $$;

CREATE FUNCTION runnel_check_alias() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM runnel_lock_run_ref(NEW.owner_id, NEW.alias);
  DELETE FROM run_aliases a USING runs r, agent_chat_sessions s
  WHERE a.owner_id = NEW.owner_id AND a.alias = NEW.alias AND r.id = a.run_id AND s.id = r.thread_id
    AND s.owner_id = '';
  IF EXISTS (SELECT 1 FROM runs r JOIN agent_chat_sessions s ON s.id = r.thread_id
             WHERE r.owner_id = NEW.owner_id AND r.run_ref = NEW.alias AND s.owner_id <> '') THEN
    RAISE EXCEPTION 'this id is a run''s own' USING ERRCODE = 'RN002';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER trg_run_alias_is_free BEFORE INSERT ON run_aliases FOR EACH ROW EXECUTE FUNCTION runnel_check_alias();

CREATE TRIGGER trg_run_alias_frozen BEFORE UPDATE ON run_aliases FOR EACH ROW
EXECUTE FUNCTION runnel_refuse_call_change('what an alias stands for is frozen');

-- As before, and an alias of another run is a conflict, too. Each statement sees what was committed before the lock was
-- taken, because the function is volatile.
CREATE OR REPLACE FUNCTION runnel_admitted_before(p_owner text, p_ref text, p_hash text)
RETURNS TABLE (outcome text, run bigint, thread bigint, thread_ref text, epoch bigint, status text,
               cancel_first bigint)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
BEGIN
  PERFORM runnel_lock_run_ref(p_owner, p_ref);
  RETURN QUERY
    SELECT CASE WHEN r.input_hash = p_hash THEN 'existing' ELSE 'id_conflict' END, r.id, r.thread_id, s.thread_ref,
           r.epoch, r.status, NULL::bigint
    FROM runs r JOIN agent_chat_sessions s ON s.id = r.thread_id
    WHERE r.owner_id = p_owner AND r.run_ref = p_ref AND s.owner_id <> '';
  IF FOUND THEN RETURN; END IF;
  RETURN QUERY
    SELECT 'id_conflict', r.id, r.thread_id, s.thread_ref, r.epoch, r.status, NULL::bigint
    FROM run_aliases a JOIN runs r ON r.id = a.run_id JOIN agent_chat_sessions s ON s.id = r.thread_id
    WHERE a.owner_id = p_owner AND a.alias = p_ref AND s.owner_id <> '';
END $$;

-- As before, and also the run's aliases.
CREATE OR REPLACE FUNCTION runnel_purge_run(p_run bigint, p_limit bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  v_rows bigint := runnel_purge_log(p_run, p_limit);
BEGIN
  IF v_rows > 0 THEN RETURN v_rows; END IF;
  DELETE FROM agent_chat_messages
  WHERE ctid = ANY (ARRAY(SELECT ctid FROM agent_chat_messages WHERE run_id = p_run LIMIT p_limit));
  GET DIAGNOSTICS v_rows = ROW_COUNT;
  IF v_rows > 0 THEN RETURN v_rows; END IF;
  UPDATE model_calls SET run_id = NULL
  WHERE row_no = ANY (ARRAY(SELECT row_no FROM model_calls WHERE run_id = p_run LIMIT p_limit));
  GET DIAGNOSTICS v_rows = ROW_COUNT;
  IF v_rows > 0 THEN RETURN v_rows; END IF;
  DELETE FROM run_aliases
  WHERE ctid = ANY (ARRAY(SELECT ctid FROM run_aliases WHERE run_id = p_run LIMIT p_limit));
  GET DIAGNOSTICS v_rows = ROW_COUNT;
  IF v_rows > 0 THEN RETURN v_rows; END IF;
  DELETE FROM runs WHERE id = p_run;
  GET DIAGNOSTICS v_rows = ROW_COUNT;
  RETURN v_rows;
END $$;

-- The idx of the first polled event behind each row of the log. The comment of the SQLite step applies here too.
ALTER TABLE log ADD COLUMN next_idx bigint;

-- The functions below are those of step 1, and also write it.
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
  INSERT INTO log(run_id, first_n, last_n, epoch, body, next_idx)
  VALUES (p_run, 1, (p_begin->>'last_n')::bigint, p_epoch, p_begin->>'body', (p_begin->>'next_idx')::bigint);
  UPDATE runs SET last_n = (p_begin->>'last_n')::bigint, next_idx = (p_begin->>'next_idx')::bigint,
                  log_bytes = log_bytes + octet_length(p_begin->>'body'),
                  kept_bytes = kept_bytes + runnel_message_bytes(json_build_array(v_message))
  WHERE id = p_run;
END $$;

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
  INSERT INTO log(run_id, first_n, last_n, epoch, body, next_idx)
  VALUES (p_run, p_first_n, p_last_n, p_epoch, p_body, p_next_idx);
  IF p_messages IS NOT NULL THEN
    PERFORM runnel_insert_messages(p_run, v_thread, v_rolled_back, p_messages, p_now);
  END IF;
  RETURN true;
END $$;

CREATE OR REPLACE FUNCTION runnel_discard(p_run bigint, p_last_n bigint, p_next_idx bigint, p_body text, p_now bigint)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_run runs := runnel_lock_run(p_run);
  v_epoch bigint;
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
  v_epoch := runnel_take_epoch(v_run.thread_id, p_now);
  INSERT INTO run_epochs(run_id, epoch, first_n) VALUES (p_run, v_epoch, 1);
  INSERT INTO log(run_id, first_n, last_n, epoch, body, next_idx)
  VALUES (p_run, 1, p_last_n, v_epoch, p_body, p_next_idx);
  UPDATE runs SET status = 'canceled', queue_no = NULL, epoch = v_epoch, last_n = p_last_n, next_idx = p_next_idx,
                  ended_at = p_now, log_bytes = log_bytes + octet_length(p_body) WHERE id = p_run;
END $$;

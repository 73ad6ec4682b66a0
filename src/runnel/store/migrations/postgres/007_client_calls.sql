-- The calls of runs to tools of their clients. The comments of the SQLite step apply here too. SQLSTATE
-- RN006: other calls are open on the thread than those that a beginning closes.
CREATE TABLE client_calls(
  thread_id bigint NOT NULL REFERENCES agent_chat_sessions(id) ON DELETE CASCADE,
  call_id text NOT NULL CONSTRAINT chk_client_call_id CHECK (call_id <> ''),
  run_id bigint NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  message_id text NOT NULL,
  closed_by bigint,
  result_id text,
  PRIMARY KEY (thread_id, call_id),
  CONSTRAINT chk_client_call_closed CHECK ((closed_by IS NULL) = (result_id IS NULL))
);
CREATE INDEX idx_client_calls_run ON client_calls(run_id);

CREATE FUNCTION runnel_settle_client_calls() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM client_calls WHERE thread_id = NEW.thread_id) THEN RETURN NULL; END IF;
  DELETE FROM client_calls WHERE thread_id = NEW.thread_id AND run_id = NEW.id AND NEW.status <> 'completed';
  IF NEW.rolled_back THEN
    UPDATE client_calls SET closed_by = NULL, result_id = NULL WHERE thread_id = NEW.thread_id AND closed_by = NEW.id;
  END IF;
  DELETE FROM client_calls WHERE thread_id = NEW.thread_id AND closed_by = NEW.id;
  RETURN NULL;
END $$;

CREATE TRIGGER trg_client_calls_of_ended AFTER UPDATE OF ended_at ON runs FOR EACH ROW
WHEN (OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL)
EXECUTE FUNCTION runnel_settle_client_calls();

-- As before, and a message may have {…, opens} with the id of a call to a tool of the client.
CREATE OR REPLACE FUNCTION runnel_insert_messages(p_run bigint, p_thread bigint, p_rolled_back boolean, p_messages json,
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
    IF m->>'opens' IS NOT NULL THEN
      INSERT INTO client_calls(thread_id, call_id, run_id, message_id) VALUES (p_thread, m->>'opens', p_run, m->>'id');
    END IF;
  END LOOP;
END $$;

-- p_closings: null, or an array of messages, each with {…, closes}. They must close exactly the calls that are open.
CREATE FUNCTION runnel_close_client_calls(p_run bigint, p_thread bigint, p_rolled_back boolean, p_closings json,
                                          p_now bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  IF (SELECT array_agg(call_id ORDER BY call_id) FROM client_calls WHERE thread_id = p_thread AND closed_by IS NULL)
     IS DISTINCT FROM (SELECT array_agg(c->>'closes' ORDER BY c->>'closes') FROM json_array_elements(p_closings) c) THEN
    RAISE EXCEPTION 'other calls are open than those that the beginning closes' USING ERRCODE = 'RN006';
  END IF;
  IF p_closings IS NULL THEN RETURN; END IF;
  PERFORM runnel_insert_messages(p_run, p_thread, p_rolled_back, p_closings, p_now);
  UPDATE client_calls SET closed_by = p_run, result_id = c->>'id'
  FROM json_array_elements(p_closings) c WHERE thread_id = p_thread AND call_id = c->>'closes';
END $$;

-- As before, and p_begin may have closings. It has no message if its input is only answers.
CREATE OR REPLACE FUNCTION runnel_write_begin(p_run bigint, p_thread bigint, p_ref text, p_epoch bigint,
                                              p_rolled_back boolean, p_begin json, p_now bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_message jsonb := p_begin->'message';
  v_closings json := p_begin->'closings';
  v_attempt int := 0;
BEGIN
  UPDATE agent_chat_sessions SET title = p_begin->>'title' WHERE id = p_thread AND title IS NULL;
  PERFORM runnel_close_client_calls(p_run, p_thread, p_rolled_back, v_closings, p_now);
  IF v_message IS NOT NULL THEN
    WHILE EXISTS (SELECT 1 FROM agent_chat_messages
                  WHERE session_id = p_thread AND message_id = v_message->>'id') LOOP
      v_attempt := v_attempt + 1;
      v_message := jsonb_set(v_message, '{id}', to_jsonb(
        p_ref || '-input' || CASE WHEN v_attempt = 1 THEN '' ELSE '-' || v_attempt END));
    END LOOP;
    PERFORM runnel_insert_messages(p_run, p_thread, p_rolled_back, json_build_array(v_message), p_now);
  END IF;
  INSERT INTO log(run_id, first_n, last_n, epoch, body, next_idx)
  VALUES (p_run, 1, (p_begin->>'last_n')::bigint, p_epoch, p_begin->>'body', (p_begin->>'next_idx')::bigint);
  UPDATE runs SET last_n = (p_begin->>'last_n')::bigint, next_idx = (p_begin->>'next_idx')::bigint,
                  log_bytes = log_bytes + octet_length(p_begin->>'body'),
                  kept_bytes = kept_bytes
                    + CASE WHEN v_message IS NULL THEN 0 ELSE runnel_message_bytes(json_build_array(v_message)) END
                    + CASE WHEN v_closings IS NULL THEN 0 ELSE runnel_message_bytes(v_closings) END
  WHERE id = p_run;
END $$;

-- All tables and functions of the run store on PostgreSQL. Tables, names and rules are the same as in the SQLite
-- baseline; its comments apply here too.
--
-- An intent is one call of a function, and so one statement and one transaction. Refusals are raised with the store's
-- own SQLSTATEs (postgres/error.cc): RN001 fenced, RN002 conflict, RN003 not found, RN004 invalid, RN005 over budget.
--
-- Locks are taken in the same order everywhere: the owner's lock, the thread's row, the run's row, the sums. A function
-- that changes a thread's runs holds the thread's row for the whole transaction. That lock is FOR NO KEY UPDATE because
-- the messages' foreign keys share-lock the same row: with FOR UPDATE, an append would wait for an admission that waits
-- for the append.
--
-- Among the sums of one user, the user's total (thread '', day -1) is locked first, and every reserve changes it.
-- Whoever makes a reserve has therefore counted all earlier reserves, on every node. A call that reserves nothing waits
-- for nobody. Amounts and token counts are numeric, which has no upper limit.
--
-- The owner '' means nobody. A deleted thread has this owner, and so has a run of a deleted thread once its id is used
-- by a new run.

CREATE TABLE users(
  id text PRIMARY KEY,
  created_at bigint NOT NULL
);

CREATE TABLE agent_chat_sessions(
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  owner_id text NOT NULL,
  thread_ref text NOT NULL,
  title text,
  status varchar(16) NOT NULL DEFAULT 'pending'
    CONSTRAINT chk_session_status CHECK (status IN ('pending','running','completed','failed')),
  state_snapshot jsonb NOT NULL DEFAULT '{"status":"pending"}',
  billing_currency varchar(3) NOT NULL DEFAULT 'CNY'
    CONSTRAINT chk_billing_currency CHECK (billing_currency IN ('CNY')),
  billing_country_snapshot varchar(2),
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  error_id text,
  last_epoch bigint NOT NULL DEFAULT 0,
  CONSTRAINT uq_sessions_owner_thread UNIQUE (owner_id, thread_ref),
  CONSTRAINT chk_session_snapshot CHECK (coalesce(state_snapshot->>'status' = status, false))
);
CREATE INDEX idx_sessions_owner_updated ON agent_chat_sessions(owner_id, updated_at, id);

CREATE FUNCTION runnel_refuse_billing_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the currency and country of a thread are frozen' USING ERRCODE = 'RN002';
END $$;

CREATE TRIGGER trg_session_billing_frozen
BEFORE UPDATE OF billing_currency, billing_country_snapshot ON agent_chat_sessions FOR EACH ROW
WHEN (NEW.billing_currency IS DISTINCT FROM OLD.billing_currency
   OR NEW.billing_country_snapshot IS DISTINCT FROM OLD.billing_country_snapshot)
EXECUTE FUNCTION runnel_refuse_billing_change();

CREATE TABLE runs(
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  owner_id text NOT NULL,
  run_ref text NOT NULL,
  thread_id bigint NOT NULL REFERENCES agent_chat_sessions(id) ON DELETE CASCADE,
  status text NOT NULL CONSTRAINT chk_run_status CHECK (status IN
    ('queued','pending','running','awaiting_approval','completed','failed','canceled')),
  mode text NOT NULL CONSTRAINT chk_run_mode CHECK (mode IN ('chat','automation')),
  queue_no bigint,
  epoch bigint NOT NULL DEFAULT 0,
  node text,
  cancel_at bigint,
  last_n bigint NOT NULL DEFAULT 0,
  next_idx bigint NOT NULL DEFAULT 0,
  rolled_back boolean NOT NULL DEFAULT false,
  log_expired boolean NOT NULL DEFAULT false,
  input_hash text NOT NULL,
  agui_version text NOT NULL,
  error_code text,
  error_id text,
  created_at bigint NOT NULL,
  started_at bigint,
  ended_at bigint,
  profile text,
  spent numeric NOT NULL DEFAULT 0,
  log_bytes bigint NOT NULL DEFAULT 0,
  kept_bytes bigint NOT NULL DEFAULT 0,
  released boolean NOT NULL DEFAULT false,
  crashes bigint NOT NULL DEFAULT 0,
  CONSTRAINT uq_runs_owner_run UNIQUE (owner_id, run_ref),
  CONSTRAINT chk_run_queue_no CHECK ((status = 'queued') = (queue_no IS NOT NULL)),
  CONSTRAINT chk_run_ended_at CHECK ((status IN ('completed','failed','canceled')) = (ended_at IS NOT NULL))
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX uq_runs_thread_active ON runs(thread_id)
  WHERE status IN ('pending','running','awaiting_approval');
CREATE UNIQUE INDEX uq_runs_thread_queue ON runs(thread_id, queue_no) WHERE status = 'queued';
CREATE INDEX idx_runs_thread ON runs(thread_id);
CREATE INDEX idx_runs_log_kept ON runs(ended_at) WHERE ended_at IS NOT NULL AND NOT log_expired;
CREATE INDEX idx_runs_owner_active ON runs(owner_id) WHERE ended_at IS NULL;

CREATE TABLE run_inputs(
  run_id bigint PRIMARY KEY REFERENCES runs(id) ON DELETE CASCADE,
  input text NOT NULL
);

CREATE TABLE run_epochs(
  run_id bigint NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  epoch bigint NOT NULL,
  first_n bigint NOT NULL,
  PRIMARY KEY (run_id, epoch)
);

CREATE TABLE log(
  run_id bigint NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  first_n bigint NOT NULL,
  last_n bigint NOT NULL,
  epoch bigint NOT NULL,
  body text NOT NULL,
  CONSTRAINT uq_log_run_first PRIMARY KEY (run_id, first_n),
  CONSTRAINT chk_log_numbers CHECK (first_n >= 1 AND last_n >= first_n)
);

CREATE FUNCTION runnel_refuse_log_of_ended() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (SELECT ended_at FROM runs WHERE id = NEW.run_id) IS NOT NULL THEN
    RAISE EXCEPTION 'the log of an ended run takes no more rows' USING ERRCODE = 'RN002';
  END IF;
  RETURN NEW;
END $$;

CREATE TRIGGER trg_log_ended BEFORE INSERT ON log FOR EACH ROW EXECUTE FUNCTION runnel_refuse_log_of_ended();

CREATE TABLE agent_chat_messages(
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  session_id bigint NOT NULL REFERENCES agent_chat_sessions(id) ON DELETE CASCADE,
  run_id bigint NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  message_id text NOT NULL,
  seq bigint NOT NULL CONSTRAINT chk_message_seq CHECK (seq <> 0),
  role varchar(16) NOT NULL CONSTRAINT chk_message_role CHECK (role IN ('user','assistant','system','tool')),
  content text NOT NULL,
  metadata json NOT NULL CONSTRAINT chk_message_type CHECK (coalesce(metadata->>'type' IN
    ('user_input','tool_call','tool_result','assistant_output','stage_audit'), false)),
  visibility_mask integer NOT NULL CONSTRAINT chk_message_mask CHECK (visibility_mask BETWEEN 0 AND 3),
  input_tokens bigint NOT NULL CONSTRAINT chk_message_input_tokens CHECK (input_tokens >= 0),
  output_tokens bigint NOT NULL CONSTRAINT chk_message_output_tokens CHECK (output_tokens >= 0),
  cost numeric(24,12) NOT NULL CONSTRAINT chk_message_cost CHECK (cost >= 0),
  currency varchar(3),
  created_at bigint NOT NULL,
  CONSTRAINT uq_messages_session_seq UNIQUE (session_id, seq),
  CONSTRAINT uq_messages_session_message UNIQUE (session_id, message_id),
  CONSTRAINT chk_tool_seq CHECK (seq > 0 OR
    (role <> 'tool' AND metadata->>'type' NOT IN ('tool_call','tool_result')))
);
CREATE INDEX idx_messages_session_seq_display ON agent_chat_messages(session_id, seq) WHERE seq > 0;
CREATE INDEX idx_messages_session_seq_audit ON agent_chat_messages(session_id, seq) WHERE seq < 0;
CREATE INDEX idx_messages_run ON agent_chat_messages(run_id);

CREATE TABLE health(
  id integer PRIMARY KEY CONSTRAINT chk_health_one_row CHECK (id = 1),
  probes bigint NOT NULL
);
INSERT INTO health(id, probes) VALUES (1, 0);

CREATE TABLE model_calls(
  row_no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text NOT NULL CONSTRAINT uq_calls_id UNIQUE,
  owner_id text NOT NULL,
  thread_ref text NOT NULL,
  run_ref text NOT NULL,
  run_id bigint REFERENCES runs(id) ON DELETE SET NULL,
  epoch bigint NOT NULL,
  stage text NOT NULL,
  attempt bigint NOT NULL CONSTRAINT chk_call_attempt CHECK (attempt >= 1),
  provider text NOT NULL,
  model text NOT NULL,
  started_at bigint NOT NULL,
  input_estimate bigint NOT NULL CONSTRAINT chk_call_input_estimate CHECK (input_estimate >= 0),
  cost_estimate numeric(24,12) NOT NULL CONSTRAINT chk_call_cost_estimate CHECK (cost_estimate >= 0),
  reserve numeric(24,12) NOT NULL CONSTRAINT chk_call_reserve CHECK (reserve >= 0),
  currency varchar(3) NOT NULL,

  status text NOT NULL DEFAULT 'open' CONSTRAINT chk_call_status CHECK (status IN
    ('open','completed','failed','canceled','interrupted')),
  ended_at bigint,
  error_code text,
  latency_ms bigint NOT NULL DEFAULT 0 CONSTRAINT chk_call_latency CHECK (latency_ms >= 0),
  first_token_ms bigint CONSTRAINT chk_call_first_token CHECK (first_token_ms >= 0),
  input_tokens bigint NOT NULL DEFAULT 0 CONSTRAINT chk_call_input_tokens CHECK (input_tokens >= 0),
  output_tokens bigint NOT NULL DEFAULT 0 CONSTRAINT chk_call_output_tokens CHECK (output_tokens >= 0),
  total_tokens bigint NOT NULL DEFAULT 0 CONSTRAINT chk_call_total_tokens CHECK (total_tokens >= 0),
  cached_tokens bigint NOT NULL DEFAULT 0 CONSTRAINT chk_call_cached_tokens CHECK (cached_tokens >= 0),
  cache_hit_tokens bigint NOT NULL DEFAULT 0 CONSTRAINT chk_call_cache_hit CHECK (cache_hit_tokens >= 0),
  cache_miss_tokens bigint NOT NULL DEFAULT 0 CONSTRAINT chk_call_cache_miss CHECK (cache_miss_tokens >= 0),
  cache_write_tokens bigint NOT NULL DEFAULT 0 CONSTRAINT chk_call_cache_write CHECK (cache_write_tokens >= 0),
  reasoning_tokens bigint NOT NULL DEFAULT 0 CONSTRAINT chk_call_reasoning CHECK (reasoning_tokens >= 0),
  usage_complete boolean NOT NULL DEFAULT false,
  direct_cost numeric(24,12) CONSTRAINT chk_call_direct_cost CHECK (direct_cost >= 0),
  direct_observed boolean NOT NULL DEFAULT false,
  catalog_cost numeric(24,12) NOT NULL DEFAULT 0 CONSTRAINT chk_call_catalog_cost CHECK (catalog_cost >= 0),
  price_list text NOT NULL DEFAULT 'none' CONSTRAINT chk_call_price_list CHECK (price_list IN
    ('none','custom_pricing','litellm_catalog')),
  price json NOT NULL DEFAULT '{}',

  cost numeric(24,12) NOT NULL CONSTRAINT chk_call_cost CHECK (cost >= 0),
  cost_source text CONSTRAINT chk_call_cost_source CHECK (cost_source IN
    ('provider','catalog_fallback','catalog_fallback_incomplete_provider_cost','incomplete_usage_fallback')),
  message_id text,

  CONSTRAINT chk_call_ended_at CHECK ((status = 'open') = (ended_at IS NULL)),
  CONSTRAINT chk_call_held CHECK (status <> 'open' OR cost = reserve),
  CONSTRAINT chk_call_booked CHECK ((message_id IS NULL) = (cost_source IS NULL)
    AND (message_id IS NULL OR status <> 'open'))
);
CREATE INDEX idx_calls_run ON model_calls(run_id);
CREATE INDEX idx_calls_thread ON model_calls(owner_id, thread_ref);
CREATE INDEX idx_calls_owner_started ON model_calls(owner_id, started_at) INCLUDE (cost);

CREATE FUNCTION runnel_match_call_currency() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.currency IS DISTINCT FROM (SELECT s.billing_currency FROM runs r
      JOIN agent_chat_sessions s ON s.id = r.thread_id WHERE r.id = NEW.run_id) THEN
    RAISE EXCEPTION 'a call must carry the currency of its thread' USING ERRCODE = 'RN002';
  END IF;
  RETURN NEW;
END $$;

CREATE TRIGGER trg_call_currency_match BEFORE INSERT ON model_calls
FOR EACH ROW EXECUTE FUNCTION runnel_match_call_currency();

CREATE FUNCTION runnel_refuse_call_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '%', TG_ARGV[0] USING ERRCODE = 'RN002';
END $$;

CREATE TRIGGER trg_call_run_kept BEFORE UPDATE OF run_id ON model_calls FOR EACH ROW
WHEN (NEW.run_id IS NOT NULL)
EXECUTE FUNCTION runnel_refuse_call_change('a call stays with its run');

CREATE TRIGGER trg_call_opening_frozen
BEFORE UPDATE OF id, owner_id, thread_ref, run_ref, epoch, stage, attempt, provider, model, started_at,
  input_estimate, cost_estimate, reserve, currency ON model_calls FOR EACH ROW
EXECUTE FUNCTION runnel_refuse_call_change('what a call was opened with is frozen');

CREATE TRIGGER trg_call_ends_once
BEFORE UPDATE OF status, ended_at, error_code, latency_ms, first_token_ms, input_tokens, output_tokens,
  total_tokens, cached_tokens, cache_hit_tokens, cache_miss_tokens, cache_write_tokens, reasoning_tokens,
  usage_complete, direct_cost, direct_observed, catalog_cost, price_list, price ON model_calls FOR EACH ROW
WHEN (OLD.status <> 'open')
EXECUTE FUNCTION runnel_refuse_call_change('a call ends once');

CREATE TRIGGER trg_call_booked_once BEFORE UPDATE OF cost, cost_source, message_id ON model_calls FOR EACH ROW
WHEN (OLD.message_id IS NOT NULL)
EXECUTE FUNCTION runnel_refuse_call_change('a call is booked once');

CREATE TABLE checkpoints(
  run_id bigint NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  number bigint NOT NULL CONSTRAINT chk_checkpoint_number CHECK (number >= 1),
  stage text NOT NULL,
  kind text NOT NULL CONSTRAINT chk_checkpoint_kind CHECK (kind <> ''),
  body json NOT NULL CONSTRAINT chk_checkpoint_body CHECK (json_typeof(body) = 'object'),
  PRIMARY KEY (run_id, number)
);

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

-- If the run was running, its error becomes the thread's error until the thread's next run starts.
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

CREATE TRIGGER trg_message_currency_match BEFORE INSERT OR UPDATE ON agent_chat_messages
FOR EACH ROW EXECUTE FUNCTION enforce_message_currency_match_session();

-- Functions.

-- For sql.h: refuses a statement that touched a different number of rows than its caller expected.
CREATE FUNCTION runnel_expect(p_touched bigint, p_expected bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  IF p_touched <> p_expected THEN
    RAISE EXCEPTION 'a statement touched % rows instead of %', p_touched, p_expected USING ERRCODE = 'RN002';
  END IF;
END $$;

-- For sql.h: SQLite has this function. It returns the text as a JSON string.
CREATE FUNCTION json_quote(text) RETURNS text
LANGUAGE sql STABLE STRICT AS 'SELECT to_json($1)::text';

-- The next epoch of one of the thread's runs (SSE-1).
CREATE FUNCTION runnel_take_epoch(p_thread bigint, p_now bigint) RETURNS bigint
LANGUAGE sql AS $$
  UPDATE agent_chat_sessions SET last_epoch = greatest(last_epoch + 1, p_now) WHERE id = p_thread RETURNING last_epoch
$$;

-- p_messages: a JSON array of messages as postgres/rows.cc makes it, in the order in which they are written.
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

-- The result's id is null if there is no such run.
CREATE FUNCTION runnel_lock_run(p_run bigint) RETURNS runs
LANGUAGE plpgsql AS $$
DECLARE
  v_run runs;
BEGIN
  PERFORM 1 FROM agent_chat_sessions WHERE id = (SELECT thread_id FROM runs WHERE id = p_run) FOR NO KEY UPDATE;
  SELECT * INTO v_run FROM runs WHERE id = p_run FOR NO KEY UPDATE;
  RETURN v_run;
END $$;

-- Returns the promoted run, or null.
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

CREATE FUNCTION runnel_money(p_pico bigint) RETURNS numeric
LANGUAGE sql IMMUTABLE AS $$ SELECT p_pico * 0.000000000001 $$;

-- p_ends and p_bookings: JSON arrays as postgres/calls.cc makes them, or null.
CREATE FUNCTION runnel_settle_calls(p_run bigint, p_ends json, p_bookings json) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_changed bigint;
BEGIN
  UPDATE model_calls c
  SET status = e.status, error_code = e.error_code, ended_at = e.ended_at, latency_ms = e.latency_ms,
      first_token_ms = e.first_token_ms, input_tokens = e.input, output_tokens = e.output, total_tokens = e.total,
      cached_tokens = e.cached, cache_hit_tokens = e.cache_hit, cache_miss_tokens = e.cache_miss,
      cache_write_tokens = e.cache_write, reasoning_tokens = e.reasoning, usage_complete = e.complete,
      direct_cost = runnel_money(e.direct), direct_observed = e.direct_observed,
      catalog_cost = runnel_money(e.catalog), price_list = e.price_list, price = e.price::json,
      cost = runnel_money(e.provisional)
  FROM json_to_recordset(p_ends) AS e(
    id text, status text, error_code text, ended_at bigint, latency_ms bigint, first_token_ms bigint, input bigint,
    output bigint, total bigint, cached bigint, cache_hit bigint, cache_miss bigint, cache_write bigint,
    reasoning bigint, complete boolean, direct bigint, direct_observed boolean, catalog bigint, price_list text,
    price text, provisional bigint)
  WHERE c.id = e.id AND c.run_id = p_run AND c.status = 'open';
  GET DIAGNOSTICS v_changed = ROW_COUNT;
  IF v_changed <> coalesce(json_array_length(p_ends), 0) THEN
    RAISE EXCEPTION 'the end of a call that is not open or not this run''s' USING ERRCODE = 'RN004';
  END IF;

  UPDATE model_calls c SET message_id = b.message, cost = runnel_money(b.cost), cost_source = b.source
  FROM json_to_recordset(p_bookings) AS b(id text, message text, cost bigint, source text)
  WHERE c.id = b.id AND c.run_id = p_run AND c.status <> 'open' AND c.message_id IS NULL
    AND EXISTS (SELECT 1 FROM agent_chat_messages m WHERE m.run_id = p_run AND m.message_id = b.message);
  GET DIAGNOSTICS v_changed = ROW_COUNT;
  IF v_changed <> coalesce(json_array_length(p_bookings), 0) THEN
    RAISE EXCEPTION 'a booking of a call that has not ended, is booked, or is not this run''s, or on such a message'
    USING ERRCODE = 'RN004';
  END IF;
END $$;

-- Writes what comes with a batch of facts. Each of the three is null if there is none.
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

-- Returns the promoted run, or null. A run that has already ended is left unchanged.
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

-- Starting a run clears the thread's error.
CREATE FUNCTION runnel_set_thread_status(p_thread bigint, p_status text, p_now bigint) RETURNS void
LANGUAGE sql AS $$
  UPDATE agent_chat_sessions
  SET status = p_status, state_snapshot = jsonb_set(state_snapshot, '{status}', to_jsonb(p_status)),
      error_id = CASE WHEN p_status <> 'running' THEN error_id END, updated_at = greatest(updated_at, p_now)
  WHERE id = p_thread
$$;

-- The name of the first budget that would be exceeded if p_more were spent; null if none would be.
-- p_budgets: {run, thread, user, day, day_began}, amounts in pico; a null amount means no limit.
CREATE FUNCTION runnel_full_budget(p_budgets json, p_owner text, p_thread_ref text, p_run bigint,
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

-- p_budgets is null if nothing is limited. The reserve locks the user's sum, so that of several calls that are opened
-- at the same time each one counts those before it.
CREATE FUNCTION runnel_open_call(p_id text, p_run bigint, p_epoch bigint, p_stage text, p_attempt bigint,
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

-- How many bytes of their owner's storage the messages take. p_messages: a JSON array or null.
CREATE FUNCTION runnel_message_bytes(p_messages json) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(sum(octet_length(m->>'content') + octet_length(m->>'metadata')), 0)::bigint
  FROM json_array_elements(p_messages) AS m
$$;

-- p_begin: {title, message, last_n, next_idx, body}.
CREATE FUNCTION runnel_write_begin(p_run bigint, p_thread bigint, p_ref text, p_epoch bigint,
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

-- Returns true if the batch was written, and false if the log already holds exactly this batch.
CREATE FUNCTION runnel_append(p_run bigint, p_epoch bigint, p_first_n bigint, p_last_n bigint,
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

CREATE FUNCTION runnel_discard(p_run bigint, p_last_n bigint, p_next_idx bigint, p_body text, p_now bigint)
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
  INSERT INTO log(run_id, first_n, last_n, epoch, body) VALUES (p_run, 1, p_last_n, v_epoch, p_body);
  UPDATE runs SET status = 'canceled', queue_no = NULL, epoch = v_epoch, last_n = p_last_n, next_idx = p_next_idx,
                  ended_at = p_now, log_bytes = log_bytes + octet_length(p_body) WHERE id = p_run;
END $$;

CREATE FUNCTION runnel_admitted_before(p_owner text, p_ref text, p_hash text)
RETURNS TABLE (outcome text, run bigint, thread bigint, thread_ref text, epoch bigint, status text,
               cancel_first bigint)
LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN r.input_hash = p_hash THEN 'existing' ELSE 'id_conflict' END, r.id, r.thread_id, s.thread_ref,
         r.epoch, r.status, NULL::bigint
  FROM runs r JOIN agent_chat_sessions s ON s.id = r.thread_id
  WHERE r.owner_id = p_owner AND r.run_ref = p_ref AND s.owner_id <> ''
$$;

-- p_budgets is null if nothing is limited; otherwise every budget must have room for the least that a call can cost.
-- p_max: how many runs of the owner may be unfinished; 0 means no limit. p_quota: how many bytes the owner's ended runs
-- may take; 0 means no limit. If p_max is a limit, the owner's admissions wait for one another, so that each one counts
-- those before it; that lock is taken before any thread's row.
-- p_profile: a query whose $1 is the owner, which returns the owner's profile and country; null if there are no
-- profiles. p_country: the country of an owner whose profile names none.
CREATE FUNCTION runnel_admit_run(p_budgets json, p_max bigint, p_quota bigint, p_owner text, p_thread_ref text,
                                 p_ref text, p_policy text, p_mode text, p_hash text, p_input text, p_agui text,
                                 p_profile text, p_country text, p_node text, p_now bigint, p_begin json)
RETURNS TABLE (outcome text, run bigint, thread bigint, thread_ref text, epoch bigint, status text,
               cancel_first bigint, stored bigint, profile text)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_thread bigint;
  v_active bigint;
  v_run bigint;
  v_queue bigint;
  v_epoch bigint := 0;
  v_stored bigint;
  v_profile text;
  v_country text;
BEGIN
  IF p_max > 0 THEN
    PERFORM pg_advisory_xact_lock(72465, hashtext(p_owner));
  END IF;
  RETURN QUERY SELECT b.*, 0::bigint, NULL::text FROM runnel_admitted_before(p_owner, p_ref, p_hash) b;
  IF FOUND THEN RETURN; END IF;
  run := 0;
  thread := 0;
  thread_ref := p_thread_ref;
  epoch := 0;
  status := 'queued';
  stored := 0;
  IF p_budgets IS NOT NULL THEN
    IF runnel_full_budget(p_budgets, p_owner, p_thread_ref, NULL, runnel_money(1)) IS NOT NULL THEN
      outcome := 'over_budget';
      RETURN NEXT;
      RETURN;
    END IF;
  END IF;
  IF p_max > 0 THEN
    IF (SELECT count(*) FROM (SELECT 1 FROM runs WHERE owner_id = p_owner AND ended_at IS NULL LIMIT p_max) c)
        >= p_max THEN
      outcome := 'too_many_runs';
      RETURN NEXT;
      RETURN;
    END IF;
  END IF;

  IF p_quota > 0 THEN
    SELECT bytes INTO v_stored FROM storage_totals WHERE owner_id = p_owner;
    IF v_stored >= p_quota THEN
      outcome := 'over_quota';
      stored := v_stored;
      RETURN NEXT;
      RETURN;
    END IF;
  END IF;
  IF p_profile IS NOT NULL THEN
    EXECUTE p_profile INTO v_profile, v_country USING p_owner;
    v_profile := nullif(v_profile, '');
  END IF;
  v_thread := runnel_lock_or_make_thread(p_owner, p_thread_ref, coalesce(nullif(v_country, ''), p_country), p_now);
  -- While this transaction waited for the thread, another one may have admitted the same run, perhaps on another
  -- thread. The error makes the caller start again: a thread that was made in vain is undone, and the other run is
  -- found.
  IF EXISTS (SELECT 1 FROM runnel_admitted_before(p_owner, p_ref, p_hash)) THEN
    RAISE EXCEPTION 'two admits of one run' USING ERRCODE = '40001';
  END IF;

  SELECT id INTO v_active FROM runs
  WHERE thread_id = v_thread AND status IN ('pending','running','awaiting_approval');
  IF v_active IS NULL THEN
    v_epoch := runnel_take_epoch(v_thread, p_now);
  ELSIF p_policy = 'reject' THEN
    outcome := 'thread_busy';
    run := v_active;
    thread := v_thread;
    status := 'running';
    RETURN NEXT;
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
  run := v_run;
  thread := v_thread;

  IF v_active IS NULL THEN
    INSERT INTO run_epochs(run_id, epoch, first_n) VALUES (v_run, v_epoch, 1);
    PERFORM runnel_write_begin(v_run, v_thread, p_ref, v_epoch, false, p_begin, p_now);
    PERFORM runnel_set_thread_status(v_thread, 'running', p_now);
    outcome := 'running';
    status := 'running';
    epoch := v_epoch;
    profile := v_profile;
    RETURN NEXT;
    RETURN;
  END IF;

  IF p_policy <> 'enqueue' THEN
    cancel_first := v_active;
    UPDATE runs SET cancel_at = coalesce(cancel_at, p_now), rolled_back = rolled_back OR p_policy = 'rollback'
    WHERE id = v_active;
  END IF;
  IF p_policy = 'rollback' THEN
    UPDATE agent_chat_messages SET visibility_mask = 0 WHERE run_id = v_active;
  END IF;
  outcome := 'queued';
  RETURN NEXT;
END $$;

CREATE FUNCTION runnel_expire_logs(p_before bigint, p_limit bigint) RETURNS bigint
LANGUAGE sql AS $$
  WITH expired AS (
    UPDATE runs SET log_expired = true
    WHERE id IN (SELECT id FROM runs WHERE ended_at IS NOT NULL AND NOT log_expired AND ended_at < p_before
                 ORDER BY ended_at LIMIT p_limit FOR UPDATE SKIP LOCKED)
    RETURNING id
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
  UPDATE agent_chat_sessions SET owner_id = '', thread_ref = id WHERE id = v_thread;
  INSERT INTO purges(thread_id) VALUES (v_thread);
  RETURN 'deleted';
END $$;

-- Deletes up to p_limit rows of the run's log or checkpoints, and returns how many.
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

-- Does the same for all rows of the run, and at last for the run itself. Model calls stay, without their run.
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
  UPDATE model_calls SET run_id = NULL
  WHERE row_no = ANY (ARRAY(SELECT row_no FROM model_calls WHERE run_id = p_run LIMIT p_limit));
  GET DIAGNOSTICS v_rows = ROW_COUNT;
  IF v_rows > 0 THEN RETURN v_rows; END IF;
  DELETE FROM runs WHERE id = p_run;
  GET DIAGNOSTICS v_rows = ROW_COUNT;
  RETURN v_rows;
END $$;

-- Deletes some rows for one entry, and at last the entry itself. Returns how many rows were deleted, at least one.
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

-- Deletes a part of what is to be deleted: about p_limit rows, or as many as p_ms milliseconds allow. One row of the answer
-- says how many rows were deleted. Each entry that could not be deleted has a row of its own, with the reason; it is moved
-- behind all others and is not tried again in this call. Before a row is deleted, only p_failures such entries end the call,
-- and not the time. An error that may soon be over (a deadlock, a full disk, a shutdown) is not blamed on an entry, but
-- raised.
CREATE FUNCTION runnel_purge(p_limit bigint, p_ms bigint, p_failures bigint)
RETURNS TABLE (deleted bigint, stuck_run bigint, stuck_thread bigint, why text)
LANGUAGE plpgsql AS $$
DECLARE
  v_deadline timestamptz := clock_timestamp() + p_ms * interval '1 millisecond';
  v_purge purges;
  v_rows bigint := 0;
  v_failures bigint := 0;
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
      v_failures := v_failures + 1;
    END;
    EXIT WHEN v_rows >= p_limit OR v_failures >= p_failures OR (v_rows > 0 AND clock_timestamp() >= v_deadline);
  END LOOP;
  deleted := v_rows;
  stuck_run := NULL;
  stuck_thread := NULL;
  why := NULL;
  RETURN NEXT;
END $$;

-- A writer that left without releasing the run, and had written something, counts as a crash.
CREATE FUNCTION runnel_claim_run(p_run bigint, p_node text, p_now bigint, p_begin json)
RETURNS TABLE (epoch bigint, previous_epoch bigint, last_n bigint, next_idx bigint, cancel_requested boolean,
               crashes bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_run runs := runnel_lock_run(p_run);
  v_epoch bigint;
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
  v_epoch := runnel_take_epoch(v_run.thread_id, p_now);
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

-- A checkpoint sets the number of crashes to 0, because the run has made progress since its earlier writers crashed.
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
  UPDATE runs SET crashes = 0, log_bytes = log_bytes
    + (SELECT sum(octet_length(c->>'body')) FROM json_array_elements(p_checkpoints) AS c)
  WHERE id = p_run;
END $$;

-- Takes two endings of one run, and writes the second one (c_) if the run's cancel was accepted; `canceled` says which
-- one was written. A repeated call chooses the same ending as the first call: runnel_end_with finds its facts in the
-- log.
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

-- Where a run's log ends, even if the log's rows are damaged.
CREATE FUNCTION runnel_log_end(p_run bigint)
RETURNS TABLE (epoch bigint, last_n bigint, next_idx bigint, status text)
LANGUAGE sql STABLE AS $$
  SELECT r.epoch, greatest(r.last_n, (SELECT max(l.last_n) FROM log l WHERE l.run_id = r.id)), r.next_idx, r.status
  FROM runs r WHERE r.id = p_run
$$;

-- Ends a run that no writer can continue. Returns the promoted run, or null.
CREATE FUNCTION runnel_force_end(p_run bigint, p_node text, p_seen_epoch bigint, p_log_is_lost boolean,
                                 p_first_n bigint, p_last_n bigint, p_next_idx bigint, p_body text, p_messages json,
                                 p_now bigint, p_status text, p_error_code text, p_error_id text, p_ends json,
                                 p_bookings json) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  v_run runs := runnel_lock_run(p_run);
  v_epoch bigint;
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
  v_epoch := runnel_take_epoch(v_run.thread_id, p_now);
  INSERT INTO run_epochs(run_id, epoch, first_n) VALUES (p_run, v_epoch, p_first_n);
  UPDATE runs SET status = 'running', epoch = v_epoch, node = p_node, started_at = coalesce(started_at, p_now),
                  last_n = p_first_n - 1, log_expired = p_log_is_lost
  WHERE id = p_run;
  RETURN runnel_end_with(p_run, v_epoch, p_first_n, p_last_n, p_next_idx, p_body, p_messages, p_now, p_status,
                         p_error_code, p_error_id, p_ends, p_bookings, NULL);
END $$;

-- All tables of the run store on SQLite: users, threads, runs, their logs and messages, the ledger and its sums.
--
-- A commit writes whole pages, and the runs of one group commit should share their pages. For this reason `log` and
-- `checkpoints` have a rowid, and `runs` is narrow: the inputs, which are long and written once, have their own table.
--
-- Keys of threads and runs are never reused (AUTOINCREMENT), so that a key that is still held somewhere never refers to
-- another row.

CREATE TABLE users(
  id TEXT NOT NULL PRIMARY KEY,
  created_at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE agent_chat_sessions(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  owner_id TEXT NOT NULL,
  thread_ref TEXT NOT NULL,
  title TEXT,
  status VARCHAR(16) NOT NULL DEFAULT 'pending'
    CONSTRAINT chk_session_status CHECK (status IN ('pending','running','completed','failed')),
  state_snapshot TEXT NOT NULL DEFAULT '{"status":"pending"}',
  billing_currency VARCHAR(3) NOT NULL DEFAULT 'CNY'
    CONSTRAINT chk_billing_currency CHECK (billing_currency IN ('CNY')),
  billing_country_snapshot VARCHAR(2)
    CONSTRAINT chk_billing_country CHECK (length(billing_country_snapshot) <= 2),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  error_id TEXT,
  last_epoch INTEGER NOT NULL DEFAULT 0,  -- The newest epoch of its runs: epochs increase within a thread (SSE-1).
  CONSTRAINT uq_sessions_owner_thread UNIQUE (owner_id, thread_ref),
  CONSTRAINT chk_session_snapshot CHECK (coalesce(json_extract(state_snapshot, '$.status') = status, 0))
);
CREATE INDEX idx_sessions_owner_updated ON agent_chat_sessions(owner_id, updated_at, id);

CREATE TRIGGER trg_session_billing_frozen
BEFORE UPDATE OF billing_currency, billing_country_snapshot ON agent_chat_sessions
WHEN NEW.billing_currency IS NOT OLD.billing_currency
  OR NEW.billing_country_snapshot IS NOT OLD.billing_country_snapshot
BEGIN
  SELECT RAISE(ABORT, 'the currency and country of a thread are frozen');
END;

CREATE TABLE runs(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  owner_id TEXT NOT NULL,
  run_ref TEXT NOT NULL,
  thread_id INTEGER NOT NULL REFERENCES agent_chat_sessions(id) ON DELETE CASCADE,
  status TEXT NOT NULL CONSTRAINT chk_run_status CHECK (status IN
    ('queued','pending','running','awaiting_approval','completed','failed','canceled')),
  mode TEXT NOT NULL CONSTRAINT chk_run_mode CHECK (mode IN ('chat','automation')),
  queue_no INTEGER,
  epoch INTEGER NOT NULL DEFAULT 0,
  node TEXT,
  cancel_at INTEGER,
  last_n INTEGER NOT NULL DEFAULT 0,
  next_idx INTEGER NOT NULL DEFAULT 0,
  rolled_back INTEGER NOT NULL DEFAULT 0,
  log_expired INTEGER NOT NULL DEFAULT 0,
  input_hash TEXT NOT NULL,
  agui_version TEXT NOT NULL,
  error_code TEXT,
  error_id TEXT,
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  ended_at INTEGER,
  profile TEXT,
  released INTEGER NOT NULL DEFAULT 0,
  crashes INTEGER NOT NULL DEFAULT 0,
  spent_high INTEGER NOT NULL DEFAULT 0,
  spent_low INTEGER NOT NULL DEFAULT 0,
  log_bytes INTEGER NOT NULL DEFAULT 0,
  kept_bytes INTEGER NOT NULL DEFAULT 0,
  CONSTRAINT uq_runs_owner_run UNIQUE (owner_id, run_ref),
  CONSTRAINT chk_run_queue_no CHECK ((status = 'queued') = (queue_no IS NOT NULL)),
  CONSTRAINT chk_run_ended_at CHECK ((status IN ('completed','failed','canceled')) = (ended_at IS NOT NULL))
);
CREATE UNIQUE INDEX uq_runs_thread_active ON runs(thread_id)
  WHERE status IN ('pending','running','awaiting_approval');
CREATE UNIQUE INDEX uq_runs_thread_queue ON runs(thread_id, queue_no) WHERE status = 'queued';
CREATE INDEX idx_runs_thread ON runs(thread_id);
CREATE INDEX idx_runs_log_kept ON runs(ended_at) WHERE ended_at IS NOT NULL AND log_expired = 0;
CREATE INDEX idx_runs_owner_active ON runs(owner_id) WHERE ended_at IS NULL;

CREATE TABLE run_inputs(
  run_id INTEGER PRIMARY KEY REFERENCES runs(id) ON DELETE CASCADE,
  input TEXT NOT NULL
);

CREATE TABLE run_epochs(
  run_id INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  epoch INTEGER NOT NULL,
  first_n INTEGER NOT NULL,
  PRIMARY KEY (run_id, epoch)
) WITHOUT ROWID;

CREATE TABLE log(
  run_id INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  first_n INTEGER NOT NULL,
  last_n INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  body TEXT NOT NULL,
  CONSTRAINT chk_log_numbers CHECK (first_n >= 1 AND last_n >= first_n)
);
CREATE UNIQUE INDEX uq_log_run_first ON log(run_id, first_n);

CREATE TRIGGER trg_log_ended BEFORE INSERT ON log
WHEN (SELECT ended_at FROM runs WHERE id = NEW.run_id) IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'the log of an ended run takes no more rows');
END;

CREATE TABLE agent_chat_messages(
  id INTEGER PRIMARY KEY,
  session_id INTEGER NOT NULL REFERENCES agent_chat_sessions(id) ON DELETE CASCADE,
  run_id INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  message_id TEXT NOT NULL,
  seq INTEGER NOT NULL CONSTRAINT chk_message_seq CHECK (seq <> 0),
  role VARCHAR(16) NOT NULL CONSTRAINT chk_message_role CHECK (role IN ('user','assistant','system','tool')),
  content TEXT NOT NULL,
  metadata TEXT NOT NULL CONSTRAINT chk_message_type CHECK (CASE WHEN json_valid(metadata) THEN
    coalesce(json_extract(metadata, '$.type') IN
      ('user_input','tool_call','tool_result','assistant_output','stage_audit'), 0) ELSE 0 END),
  visibility_mask INTEGER NOT NULL CONSTRAINT chk_message_mask CHECK (visibility_mask BETWEEN 0 AND 3),
  input_tokens INTEGER NOT NULL CONSTRAINT chk_message_input_tokens CHECK (input_tokens >= 0),
  output_tokens INTEGER NOT NULL CONSTRAINT chk_message_output_tokens CHECK (output_tokens >= 0),
  cost INTEGER NOT NULL CONSTRAINT chk_message_cost CHECK (cost >= 0),
  currency VARCHAR(3),
  created_at INTEGER NOT NULL,
  CONSTRAINT chk_tool_seq CHECK (seq > 0 OR
    (role <> 'tool' AND json_extract(metadata, '$.type') NOT IN ('tool_call','tool_result')))
);
CREATE UNIQUE INDEX uq_messages_session_seq ON agent_chat_messages(session_id, seq);
CREATE UNIQUE INDEX uq_messages_session_message ON agent_chat_messages(session_id, message_id);
CREATE INDEX idx_messages_session_seq_display ON agent_chat_messages(session_id, seq) WHERE seq > 0;
CREATE INDEX idx_messages_session_seq_audit ON agent_chat_messages(session_id, seq) WHERE seq < 0;
CREATE INDEX idx_messages_run ON agent_chat_messages(run_id);

CREATE TABLE health(
  id INTEGER PRIMARY KEY CONSTRAINT chk_health_one_row CHECK (id = 1),
  probes INTEGER NOT NULL
);
INSERT INTO health(id, probes) VALUES (1, 0);

-- The ledger of model calls (USE-8). Owner, thread and run are stored by name, as text, so that the record of what was
-- spent outlives them. Only the run is also a reference, because it leads to the thread.
--
-- `cost` is the amount that a call counts for: its reserve while the call is open, a provisional amount once it has
-- ended, and the final amount once it is booked on a message. Budgets are checked against the sums that are kept along
-- with the ledger (below). The index by owner and start is for reports, which count the first and the last day of their
-- range call by call.
--
-- A row is written three times, and each write sets only its own columns: when the call is opened, when it has ended,
-- and when it is booked. Triggers refuse an UPDATE of other columns; they do not run for an UPDATE that is allowed.
CREATE TABLE model_calls(
  row_no INTEGER PRIMARY KEY,
  id TEXT NOT NULL CONSTRAINT uq_calls_id UNIQUE,
  owner_id TEXT NOT NULL,
  thread_ref TEXT NOT NULL,
  run_ref TEXT NOT NULL,
  run_id INTEGER REFERENCES runs(id) ON DELETE SET NULL,
  epoch INTEGER NOT NULL,
  stage TEXT NOT NULL,
  attempt INTEGER NOT NULL CONSTRAINT chk_call_attempt CHECK (attempt >= 1),
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  input_estimate INTEGER NOT NULL CONSTRAINT chk_call_input_estimate CHECK (input_estimate >= 0),
  cost_estimate INTEGER NOT NULL CONSTRAINT chk_call_cost_estimate CHECK (cost_estimate >= 0),
  reserve INTEGER NOT NULL CONSTRAINT chk_call_reserve CHECK (reserve >= 0),
  currency VARCHAR(3) NOT NULL,

  status TEXT NOT NULL DEFAULT 'open' CONSTRAINT chk_call_status CHECK (status IN
    ('open','completed','failed','canceled','interrupted')),
  ended_at INTEGER,
  error_code TEXT,
  latency_ms INTEGER NOT NULL DEFAULT 0 CONSTRAINT chk_call_latency CHECK (latency_ms >= 0),
  first_token_ms INTEGER CONSTRAINT chk_call_first_token CHECK (first_token_ms >= 0),
  input_tokens INTEGER NOT NULL DEFAULT 0 CONSTRAINT chk_call_input_tokens CHECK (input_tokens >= 0),
  output_tokens INTEGER NOT NULL DEFAULT 0 CONSTRAINT chk_call_output_tokens CHECK (output_tokens >= 0),
  total_tokens INTEGER NOT NULL DEFAULT 0 CONSTRAINT chk_call_total_tokens CHECK (total_tokens >= 0),
  cached_tokens INTEGER NOT NULL DEFAULT 0 CONSTRAINT chk_call_cached_tokens CHECK (cached_tokens >= 0),
  cache_hit_tokens INTEGER NOT NULL DEFAULT 0 CONSTRAINT chk_call_cache_hit CHECK (cache_hit_tokens >= 0),
  cache_miss_tokens INTEGER NOT NULL DEFAULT 0 CONSTRAINT chk_call_cache_miss CHECK (cache_miss_tokens >= 0),
  cache_write_tokens INTEGER NOT NULL DEFAULT 0 CONSTRAINT chk_call_cache_write CHECK (cache_write_tokens >= 0),
  reasoning_tokens INTEGER NOT NULL DEFAULT 0 CONSTRAINT chk_call_reasoning CHECK (reasoning_tokens >= 0),
  usage_complete INTEGER NOT NULL DEFAULT 0 CONSTRAINT chk_call_complete CHECK (usage_complete IN (0, 1)),
  direct_cost INTEGER CONSTRAINT chk_call_direct_cost CHECK (direct_cost >= 0),
  direct_observed INTEGER NOT NULL DEFAULT 0 CONSTRAINT chk_call_observed CHECK (direct_observed IN (0, 1)),
  catalog_cost INTEGER NOT NULL DEFAULT 0 CONSTRAINT chk_call_catalog_cost CHECK (catalog_cost >= 0),
  price_list TEXT NOT NULL DEFAULT 'none' CONSTRAINT chk_call_price_list CHECK (price_list IN
    ('none','custom_pricing','litellm_catalog')),
  price TEXT NOT NULL DEFAULT '{}' CONSTRAINT chk_call_price CHECK (json_valid(price)),

  cost INTEGER NOT NULL CONSTRAINT chk_call_cost CHECK (cost >= 0),
  cost_source TEXT CONSTRAINT chk_call_cost_source CHECK (cost_source IN
    ('provider','catalog_fallback','catalog_fallback_incomplete_provider_cost','incomplete_usage_fallback')),
  message_id TEXT,

  CONSTRAINT chk_call_ended_at CHECK ((status = 'open') = (ended_at IS NULL)),
  CONSTRAINT chk_call_held CHECK (status <> 'open' OR cost = reserve),
  CONSTRAINT chk_call_booked CHECK ((message_id IS NULL) = (cost_source IS NULL)
    AND (message_id IS NULL OR status <> 'open'))
);
CREATE INDEX idx_calls_run ON model_calls(run_id);
CREATE INDEX idx_calls_thread ON model_calls(owner_id, thread_ref);
CREATE INDEX idx_calls_owner_started ON model_calls(owner_id, started_at, cost);

CREATE TRIGGER trg_call_currency_match BEFORE INSERT ON model_calls
WHEN NEW.currency IS NOT (SELECT s.billing_currency FROM runs r JOIN agent_chat_sessions s ON s.id = r.thread_id
                          WHERE r.id = NEW.run_id)
BEGIN
  SELECT RAISE(ABORT, 'a call must carry the currency of its thread');
END;

CREATE TRIGGER trg_call_run_kept BEFORE UPDATE OF run_id ON model_calls
WHEN NEW.run_id IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'a call stays with its run');
END;

CREATE TRIGGER trg_call_opening_frozen
BEFORE UPDATE OF id, owner_id, thread_ref, run_ref, epoch, stage, attempt, provider, model, started_at,
  input_estimate, cost_estimate, reserve, currency ON model_calls
BEGIN
  SELECT RAISE(ABORT, 'what a call was opened with is frozen');
END;

CREATE TRIGGER trg_call_ends_once
BEFORE UPDATE OF status, ended_at, error_code, latency_ms, first_token_ms, input_tokens, output_tokens,
  total_tokens, cached_tokens, cache_hit_tokens, cache_miss_tokens, cache_write_tokens, reasoning_tokens,
  usage_complete, direct_cost, direct_observed, catalog_cost, price_list, price ON model_calls
WHEN OLD.status <> 'open'
BEGIN
  SELECT RAISE(ABORT, 'a call ends once');
END;

CREATE TRIGGER trg_call_booked_once BEFORE UPDATE OF cost, cost_source, message_id ON model_calls
WHEN OLD.message_id IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'a call is booked once');
END;

-- The points from which a run can continue (RUN-12).
CREATE TABLE checkpoints(
  run_id INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  number INTEGER NOT NULL CONSTRAINT chk_checkpoint_number CHECK (number >= 1),
  stage TEXT NOT NULL,
  kind TEXT NOT NULL CONSTRAINT chk_checkpoint_kind CHECK (kind <> ''),
  body TEXT NOT NULL CONSTRAINT chk_checkpoint_body CHECK (
    CASE WHEN json_valid(body) THEN json_type(body) = 'object' ELSE 0 END),
  PRIMARY KEY (run_id, number)
);

-- `usage_totals`: what ended calls used, by thread, UTC day and model; the thread '' stands for all threads of a user
-- (USE-8). `spent_totals`: what is spent and reserved, for the budgets (USE-9): by user (thread '', day -1), by user
-- and day (thread ''), and by thread (day -1). A run's own sum is in its row in `runs`. Days are counted from
-- 1970-01-01.
--
-- Triggers keep the sums, so that no statement that writes to the ledger can forget them. A sum of costs has two halves
-- (see sqlite/calls.cc); a sum of tokens stops at the largest number that fits.
--
-- `runs.log_bytes` and `runs.kept_bytes` are the bytes that a run's rows take: the rows that are deleted with its log,
-- and the others. When the run has ended, both count in its owner's row of `storage_totals` (HTTP-9). `purges`: what is
-- to be deleted, either a run's log or a thread.
CREATE TABLE usage_totals(
  owner_id TEXT NOT NULL,
  thread_ref TEXT NOT NULL,
  day INTEGER NOT NULL,
  model TEXT NOT NULL,
  calls INTEGER NOT NULL,
  incomplete_calls INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cached_tokens INTEGER NOT NULL,
  reasoning_tokens INTEGER NOT NULL,
  cost_high INTEGER NOT NULL,
  cost_low INTEGER NOT NULL,
  PRIMARY KEY (owner_id, thread_ref, day, model)
) WITHOUT ROWID;

CREATE TABLE spent_totals(
  owner_id TEXT NOT NULL,
  thread_ref TEXT NOT NULL,
  day INTEGER NOT NULL,
  cost_high INTEGER NOT NULL,
  cost_low INTEGER NOT NULL,
  PRIMARY KEY (owner_id, thread_ref, day)
) WITHOUT ROWID;

CREATE TABLE storage_totals(
  owner_id TEXT NOT NULL PRIMARY KEY,
  bytes INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE purges(
  number INTEGER PRIMARY KEY,
  run_id INTEGER,
  thread_id INTEGER,
  CONSTRAINT chk_purge_one CHECK ((run_id IS NULL) <> (thread_id IS NULL))
);

CREATE TRIGGER trg_spent_when_opened AFTER INSERT ON model_calls WHEN NEW.cost <> 0
BEGIN
  INSERT INTO spent_totals(owner_id, thread_ref, day, cost_high, cost_low)
  VALUES (NEW.owner_id, '', -1, NEW.cost >> 32, NEW.cost & 4294967295),
         (NEW.owner_id, '', NEW.started_at / 86400000, NEW.cost >> 32, NEW.cost & 4294967295),
         (NEW.owner_id, NEW.thread_ref, -1, NEW.cost >> 32, NEW.cost & 4294967295)
  ON CONFLICT (owner_id, thread_ref, day) DO UPDATE
  SET cost_high = cost_high + excluded.cost_high, cost_low = cost_low + excluded.cost_low;
  UPDATE runs SET spent_high = spent_high + (NEW.cost >> 32), spent_low = spent_low + (NEW.cost & 4294967295)
  WHERE id = NEW.run_id;
END;

CREATE TRIGGER trg_spent_when_changed AFTER UPDATE OF cost ON model_calls WHEN NEW.cost <> OLD.cost
BEGIN
  INSERT INTO spent_totals(owner_id, thread_ref, day, cost_high, cost_low)
  VALUES (NEW.owner_id, '', -1, (NEW.cost >> 32) - (OLD.cost >> 32),
          (NEW.cost & 4294967295) - (OLD.cost & 4294967295)),
         (NEW.owner_id, '', NEW.started_at / 86400000, (NEW.cost >> 32) - (OLD.cost >> 32),
          (NEW.cost & 4294967295) - (OLD.cost & 4294967295)),
         (NEW.owner_id, NEW.thread_ref, -1, (NEW.cost >> 32) - (OLD.cost >> 32),
          (NEW.cost & 4294967295) - (OLD.cost & 4294967295))
  ON CONFLICT (owner_id, thread_ref, day) DO UPDATE
  SET cost_high = cost_high + excluded.cost_high, cost_low = cost_low + excluded.cost_low;
  UPDATE runs SET spent_high = spent_high + (NEW.cost >> 32) - (OLD.cost >> 32),
                  spent_low = spent_low + (NEW.cost & 4294967295) - (OLD.cost & 4294967295)
  WHERE id = NEW.run_id;
END;

CREATE TRIGGER trg_usage_when_ended AFTER UPDATE OF status ON model_calls
WHEN OLD.status = 'open' AND NEW.status <> 'open'
BEGIN
  INSERT INTO usage_totals
  VALUES (NEW.owner_id, '', NEW.started_at / 86400000, NEW.model, 1, 1 - NEW.usage_complete, NEW.input_tokens,
          NEW.output_tokens, NEW.cached_tokens, NEW.reasoning_tokens, NEW.cost >> 32, NEW.cost & 4294967295),
         (NEW.owner_id, NEW.thread_ref, NEW.started_at / 86400000, NEW.model, 1, 1 - NEW.usage_complete,
          NEW.input_tokens, NEW.output_tokens, NEW.cached_tokens, NEW.reasoning_tokens, NEW.cost >> 32,
          NEW.cost & 4294967295)
  ON CONFLICT (owner_id, thread_ref, day, model) DO UPDATE
  SET calls = calls + 1, incomplete_calls = incomplete_calls + excluded.incomplete_calls,
      input_tokens = input_tokens + min(excluded.input_tokens, 9223372036854775807 - input_tokens),
      output_tokens = output_tokens + min(excluded.output_tokens, 9223372036854775807 - output_tokens),
      cached_tokens = cached_tokens + min(excluded.cached_tokens, 9223372036854775807 - cached_tokens),
      reasoning_tokens = reasoning_tokens + min(excluded.reasoning_tokens, 9223372036854775807 - reasoning_tokens),
      cost_high = cost_high + excluded.cost_high, cost_low = cost_low + excluded.cost_low;
END;

CREATE TRIGGER trg_usage_when_booked AFTER UPDATE OF cost ON model_calls
WHEN OLD.status <> 'open' AND NEW.cost <> OLD.cost
BEGIN
  UPDATE usage_totals
  SET cost_high = cost_high + (NEW.cost >> 32) - (OLD.cost >> 32),
      cost_low = cost_low + (NEW.cost & 4294967295) - (OLD.cost & 4294967295)
  WHERE owner_id = NEW.owner_id AND thread_ref IN ('', NEW.thread_ref) AND day = NEW.started_at / 86400000
    AND model = NEW.model;
END;

CREATE TRIGGER trg_stored_when_ended AFTER UPDATE OF ended_at ON runs
WHEN OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL
BEGIN
  INSERT INTO storage_totals(owner_id, bytes) VALUES (NEW.owner_id, NEW.log_bytes + NEW.kept_bytes)
  ON CONFLICT (owner_id) DO UPDATE SET bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER trg_stored_when_deleted AFTER DELETE ON runs WHEN OLD.ended_at IS NOT NULL
BEGIN
  UPDATE storage_totals SET bytes = bytes - OLD.log_bytes - OLD.kept_bytes WHERE owner_id = OLD.owner_id;
END;

CREATE TRIGGER trg_stored_when_disowned AFTER UPDATE OF owner_id ON runs WHEN OLD.ended_at IS NOT NULL
BEGIN
  UPDATE storage_totals SET bytes = bytes - OLD.log_bytes - OLD.kept_bytes WHERE owner_id = OLD.owner_id;
END;

CREATE TRIGGER trg_purge_when_expired AFTER UPDATE OF log_expired ON runs
WHEN NEW.log_expired = 1 AND OLD.log_expired = 0
BEGIN
  INSERT INTO purges(run_id) VALUES (NEW.id);
END;

CREATE TRIGGER trg_message_currency_match BEFORE INSERT ON agent_chat_messages
WHEN NEW.currency IS NOT (SELECT billing_currency FROM agent_chat_sessions WHERE id = NEW.session_id)
BEGIN
  SELECT RAISE(ABORT, 'message currency does not match session currency CNY');
END;

CREATE TRIGGER trg_message_currency_match_update BEFORE UPDATE ON agent_chat_messages
WHEN NEW.currency IS NOT (SELECT billing_currency FROM agent_chat_sessions WHERE id = NEW.session_id)
BEGIN
  SELECT RAISE(ABORT, 'message currency does not match session currency CNY');
END;

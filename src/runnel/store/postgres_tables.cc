#include "runnel/store/postgres_schema.h"

// The same tables, names and rules as in sqlite_schema.cc, in PostgreSQL's words. What a trigger refuses
// carries the store's own SQLSTATE for a conflict (postgres_error.cc).
namespace runnel::store::postgres {

char const* const kTables = R"sql(
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
  CONSTRAINT uq_runs_owner_run UNIQUE (owner_id, run_ref),
  CONSTRAINT chk_run_queue_no CHECK ((status = 'queued') = (queue_no IS NOT NULL)),
  CONSTRAINT chk_run_ended_at CHECK ((status IN ('completed','failed','canceled')) = (ended_at IS NOT NULL))
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX uq_runs_thread_active ON runs(thread_id)
  WHERE status IN ('pending','running','awaiting_approval');
CREATE UNIQUE INDEX uq_runs_thread_queue ON runs(thread_id, queue_no) WHERE status = 'queued';
CREATE INDEX idx_runs_thread ON runs(thread_id);
CREATE INDEX idx_runs_log_kept ON runs(ended_at) WHERE ended_at IS NOT NULL AND NOT log_expired;

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

CREATE FUNCTION runnel_match_currency() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.currency IS DISTINCT FROM (SELECT billing_currency FROM agent_chat_sessions WHERE id = NEW.session_id) THEN
    RAISE EXCEPTION 'a message must carry the currency of its thread' USING ERRCODE = 'RN002';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER trg_message_currency_match BEFORE INSERT OR UPDATE ON agent_chat_messages
FOR EACH ROW EXECUTE FUNCTION runnel_match_currency();

CREATE TABLE health(
  id integer PRIMARY KEY CONSTRAINT chk_health_one_row CHECK (id = 1),
  probes bigint NOT NULL
);
INSERT INTO health(id, probes) VALUES (1, 0);
)sql";

}  // namespace runnel::store::postgres

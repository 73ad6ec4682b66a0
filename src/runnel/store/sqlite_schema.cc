#include "runnel/store/sqlite_schema.h"

#include <algorithm>
#include <array>
#include <string>

namespace runnel::store::sqlite {

namespace {

// `runs` is narrow and `log` has a rowid for one reason: a commit writes whole pages, and the runs of a group
// should share theirs. The inputs, which are long and written once, are therefore in a table of their own.
//
// Keys of threads and runs are never reused (AUTOINCREMENT): a key that someone still holds cannot come to
// mean another row.
constexpr char kFirst[] = R"sql(
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
  CONSTRAINT uq_runs_owner_run UNIQUE (owner_id, run_ref),
  CONSTRAINT chk_run_queue_no CHECK ((status = 'queued') = (queue_no IS NOT NULL)),
  CONSTRAINT chk_run_ended_at CHECK ((status IN ('completed','failed','canceled')) = (ended_at IS NOT NULL))
);
CREATE UNIQUE INDEX uq_runs_thread_active ON runs(thread_id)
  WHERE status IN ('pending','running','awaiting_approval');
CREATE UNIQUE INDEX uq_runs_thread_queue ON runs(thread_id, queue_no) WHERE status = 'queued';
CREATE INDEX idx_runs_thread ON runs(thread_id);
CREATE INDEX idx_runs_log_kept ON runs(ended_at) WHERE ended_at IS NOT NULL AND log_expired = 0;

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

CREATE TRIGGER trg_message_currency_match BEFORE INSERT ON agent_chat_messages
WHEN NEW.currency IS NOT (SELECT billing_currency FROM agent_chat_sessions WHERE id = NEW.session_id)
BEGIN
  SELECT RAISE(ABORT, 'a message must carry the currency of its thread');
END;
CREATE TRIGGER trg_message_currency_match_update BEFORE UPDATE ON agent_chat_messages
WHEN NEW.currency IS NOT (SELECT billing_currency FROM agent_chat_sessions WHERE id = NEW.session_id)
BEGIN
  SELECT RAISE(ABORT, 'a message must carry the currency of its thread');
END;

CREATE TABLE health(
  id INTEGER PRIMARY KEY CONSTRAINT chk_health_one_row CHECK (id = 1),
  probes INTEGER NOT NULL
);
INSERT INTO health(id, probes) VALUES (1, 0);
)sql";

// Tickets (HTTP-4), and the count of a user's runs that have not ended (HTTP-6).
constexpr char kEdges[] = R"sql(
CREATE TABLE tickets(
  hash TEXT NOT NULL PRIMARY KEY,
  owner_id TEXT NOT NULL,
  kind TEXT NOT NULL CONSTRAINT chk_ticket_kind CHECK (kind IN ('sse','websocket')),
  run_id INTEGER REFERENCES runs(id) ON DELETE CASCADE,
  created_at INTEGER NOT NULL,
  good_until INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  CONSTRAINT chk_ticket_run CHECK ((kind = 'sse') = (run_id IS NOT NULL))
) WITHOUT ROWID;
CREATE INDEX idx_tickets_good_until ON tickets(good_until);
CREATE INDEX idx_tickets_run ON tickets(run_id);

CREATE INDEX idx_runs_owner_active ON runs(owner_id) WHERE ended_at IS NULL;
)sql";

// The ledger of model calls (USE-8). The names of its owner, thread and run are text, so that what was spent
// outlives them; the run leads to the thread, therefore only it is a reference.
//
// `cost` is what a call counts: its reserve while it is open, something provisional once it has ended, for
// good once it is booked on a message. Budgets are looked up in the sums that are kept beside the ledger
// (sqlite_schema_totals.cc); the index by owner and start is for reports, which count the days at the edges
// of their range call by call.
//
// A row is written three times, and each time only its part of the columns: what is about to be done, how it
// ended, where it is booked. An UPDATE of other columns is refused at no cost to those that come in order.
constexpr char kLedger[] = R"sql(
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
)sql";

// Profiles (FLOW-5), what a run keeps of its owner's, and the points that a run goes on from (RUN-12).
// Checkpoints have a rowid for the reason that `log` has one.
constexpr char kFlows[] = R"sql(
CREATE TABLE profiles(
  user_id TEXT NOT NULL PRIMARY KEY REFERENCES users(id) ON DELETE CASCADE,
  username TEXT NOT NULL,
  bio TEXT NOT NULL,
  settings TEXT CONSTRAINT chk_profile_settings CHECK (settings IS NULL OR
    CASE WHEN json_valid(settings) THEN json_type(settings) = 'object' ELSE 0 END),
  country VARCHAR(2) CONSTRAINT chk_profile_country CHECK (length(country) <= 2),
  updated_at INTEGER NOT NULL
) WITHOUT ROWID;

ALTER TABLE runs ADD COLUMN profile TEXT;

CREATE TABLE checkpoints(
  run_id INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  number INTEGER NOT NULL CONSTRAINT chk_checkpoint_number CHECK (number >= 1),
  stage TEXT NOT NULL,
  kind TEXT NOT NULL CONSTRAINT chk_checkpoint_kind CHECK (kind <> ''),
  body TEXT NOT NULL CONSTRAINT chk_checkpoint_body CHECK (
    CASE WHEN json_valid(body) THEN json_type(body) = 'object' ELSE 0 END),
  PRIMARY KEY (run_id, number)
);
)sql";

// Which writers left their run by intention, and how many did not (RUN-12).
constexpr char kReleases[] = R"sql(
ALTER TABLE runs ADD COLUMN released INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN crashes INTEGER NOT NULL DEFAULT 0;
)sql";

std::array const kMigrations{Migration{1, kFirst}, Migration{2, kEdges},  Migration{3, kLedger},
                             Migration{4, kFlows}, Migration{5, kTotals}, Migration{6, kReleases}};

std::int64_t current_version(Db& db) {
  Query query{db, "SELECT coalesce(max(version), 0) FROM schema_migrations"};
  query.next();
  return query.integer(0);
}

// Another process may migrate at the same moment: what is missing is decided under the write lock.
void apply(Db& db, Migration const& migration) {
  db.execute("BEGIN IMMEDIATE");
  try {
    if (current_version(db) < migration.version) {
      db.execute(migration.sql);
      db.run("INSERT INTO schema_migrations(version, applied_at) VALUES (?1, strftime('%s','now') * 1000)",
             migration.version);
    }
    db.execute("COMMIT");
  } catch (SqlError const&) {
    if (db.in_transaction()) db.execute("ROLLBACK");
    throw;
  }
}

}  // namespace

std::span<Migration const> migrations() {
  return kMigrations;
}

void enter_wal_mode(Db& db) {
  Query mode{db, "PRAGMA journal_mode=WAL"};
  if (!mode.next() || mode.text(0) != "wal") {
    throw SqlError(SQLITE_CANTOPEN, "this place cannot hold a write-ahead log");
  }
}

Result<void> migrate(Db& db) {
  db.execute(
      "CREATE TABLE IF NOT EXISTS schema_migrations("
      "version INTEGER PRIMARY KEY, applied_at INTEGER NOT NULL)");
  auto const found = current_version(db);
  auto const known = kMigrations.back().version;
  if (found > known) {
    return Error{Errc::conflict, "the database has schema version " + std::to_string(found) +
                                     ", this program knows up to " + std::to_string(known) +
                                     ": it was written by a newer runnel"};
  }
  for (auto const& migration : kMigrations) {
    if (migration.version > found) apply(db, migration);
  }
  return {};
}

}  // namespace runnel::store::sqlite

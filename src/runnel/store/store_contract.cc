#include "runnel/store/store_contract.h"

#include <utility>

namespace runnel::store {

LogBatch batch(std::uint64_t first_n, std::uint64_t last_n, std::string body) {
  LogBatch facts;
  facts.first_n = first_n;
  facts.last_n = last_n;
  facts.next_idx = static_cast<std::int64_t>(last_n) * 10;
  facts.body = body.empty() ? "[" + std::to_string(first_n) + "]" : std::move(body);
  return facts;
}

NewMessage message(std::string id, Role role, std::string_view type) {
  NewMessage out;
  out.content = "text of " + id;
  out.id = MessageId{std::move(id)};
  out.role = role;
  out.metadata = R"({"type":")" + std::string{type} + R"("})";
  return out;
}

NewMessage answer(std::string id) {
  return message(std::move(id), Role::assistant, "assistant_output");
}

NewMessage audit(std::string id) {
  auto out = message(std::move(id), Role::system, "stage_audit");
  out.lane = Lane::audit;
  out.mask = 0;
  return out;
}

Begin begin(std::string message_id, std::string title) {
  return Begin{message(std::move(message_id), Role::user, "user_input"), std::move(title), batch(1, 2)};
}

AdmitRequest admission(std::string run, std::string thread, std::string owner) {
  AdmitRequest request;
  request.owner = UserId{std::move(owner)};
  request.thread = ThreadId{std::move(thread)};
  request.input_hash = "hash of " + run;
  request.input = R"({"text":"hello"})";
  request.agui_version = "1.0";
  request.default_country = "CN";
  request.node = NodeId{"node-1"};
  request.now = kNow;
  request.begin = begin(run + "-user");
  request.run = RunId{std::move(run)};
  return request;
}

AdmitRequest admission(std::string run, OnBusy policy) {
  auto request = admission(std::move(run));
  request.on_busy = policy;
  return request;
}

AppendRequest append_request(RunKey run, Epoch epoch, LogBatch facts, std::vector<NewMessage> messages) {
  AppendRequest request;
  request.run = run;
  request.epoch = epoch;
  request.facts = std::move(facts);
  request.messages = std::move(messages);
  request.now = kNow + 10;
  return request;
}

EndRequest end_request(RunKey run, Epoch epoch, LogBatch facts, RunStatus status) {
  EndRequest request;
  request.append = append_request(run, epoch, std::move(facts));
  request.append.now = kNow + 20;
  request.status = status;
  return request;
}

void StoreContract::SetUp() {
  under_test_ = GetParam().make();
  if (!under_test_) GTEST_SKIP() << GetParam().name << " is not installed on this machine";
}

Claim StoreContract::claim(RunKey run, std::int64_t now) {
  ClaimRequest request;
  request.run = run;
  request.node = NodeId{"node-2"};
  request.now = now;
  request.begin = begin("claimed-" + std::to_string(run.value));
  return run_async(store().claim(std::move(request))).value();
}

Ended StoreContract::end(RunKey run, Epoch epoch, LogBatch facts, RunStatus status) {
  return run_async(store().end(end_request(run, epoch, std::move(facts), status))).value();
}

std::vector<std::string> StoreContract::message_rows(std::string const& thread) {
  std::vector<std::string> out;
  for (auto const& cells : sql("SELECT m.role, m.seq, m.visibility_mask FROM agent_chat_messages m "
                               "JOIN agent_chat_sessions s ON s.id = m.session_id WHERE s.thread_ref = '" +
                               thread + "' ORDER BY m.id")) {
    out.push_back(cells[0] + ":" + cells[1] + ":" + cells[2]);
  }
  return out;
}

std::string StoreContract::thread_column(std::string const& column, std::string const& thread) {
  return sql("SELECT " + column + " FROM agent_chat_sessions WHERE thread_ref = '" + thread + "'")
      .at(0)
      .at(0);
}

std::string StoreContract::sql_error(std::string const& statement) {
  auto const outcome = under_test_->sql(statement);
  EXPECT_TRUE(outcome.has_error()) << statement;
  return outcome.has_error() ? outcome.error().detail : "";
}

void StoreContract::purge_all() {
  while (run_async(store().purge({})).value() > 0) {
  }
}

void expect_old_run_counts_and_has_tickets(Store& store) {
  auto second = admission("r2", "t2");
  second.max_active_runs = 1;
  EXPECT_EQ(run_async(store.admit(second)).value().outcome, Admission::Outcome::too_many_runs);
  NewTicket ticket;
  ticket.hash = "h1";
  ticket.owner = UserId{"ann"};
  ticket.thread = ThreadId{"t1"};
  ticket.run = RunId{"r1"};
  EXPECT_TRUE(run_async(store.put_ticket(ticket)).has_value());
}

void expect_old_run_has_a_ledger(Store& store) {
  auto const run = run_async(store.runs_to_recover(RunKey{}, 10)).value().at(0);
  NewCall call;
  call.id = "c1";
  call.run = run.key;
  call.epoch = run.epoch;
  call.provider = call.model = "m";
  call.reserve = Money{5};
  EXPECT_TRUE(run_async(store.open_call(call)).has_value());
  auto second = admission("r2", "t2");
  second.budgets.user = Money{5};
  EXPECT_EQ(run_async(store.admit(second)).value().outcome, Admission::Outcome::over_budget);
  UsageQuery query;
  query.owner = UserId{"ann"};
  query.thread = ThreadId{"t1"};
  EXPECT_EQ(run_async(store.usage(query)).value().total.cost, "0");
}

void expect_old_rows_are_ready_for_flows(Store& store) {
  auto const run = run_async(store.runs_to_recover(RunKey{}, 10)).value().at(0);
  EXPECT_TRUE(run_async(store.checkpoints(run.key, 0, 1000)).value().empty());
  auto append = append_request(run.key, run.epoch, batch(run.last_n + 1, run.last_n + 1));
  append.checkpoints = {Checkpoint{1, "worker", "turn", "{}"}};
  EXPECT_TRUE(run_async(store.append(append)));
  EXPECT_EQ(run_async(store.checkpoints(run.key, 0, 1000)).value(), append.checkpoints);

  EXPECT_FALSE(run_async(store.profile(kAnn)).value().has_value());
  ProfileRow profile;
  profile.username = "Ann";
  EXPECT_TRUE(run_async(store.put_profile(kAnn, profile)));
  EXPECT_EQ(run_async(store.run_by_key(run.key)).value().value().profile, "");
  EXPECT_NE(run_async(store.admit(admission("r2", "t2"))).value().profile, "");
}

namespace {

std::string old_call(std::string const& id, std::string const& thread, std::string const& pico,
                     std::string const& tokens, std::string const& unit) {
  return "INSERT INTO model_calls(id, owner_id, thread_ref, run_ref, run_id, epoch, stage, attempt, "
         "provider, model, "
         "started_at, input_estimate, cost_estimate, currency, input_tokens, cost, reserve) VALUES ('" +
         id + "', 'ann', '" + thread + "', 'r1', 1, 5, 's', 1, 'p', 'm', 86400000, 0, 0, 'CNY', " + tokens +
         ", " + pico + " * " + unit + ", " + pico + " * " + unit + ")";
}

}  // namespace

std::vector<std::string> old_rows(std::string const& unit) {
  return {
      "INSERT INTO agent_chat_sessions(owner_id, thread_ref, created_at, updated_at) VALUES ('ann', 't1', 1, "
      "1)",
      "INSERT INTO runs(owner_id, run_ref, thread_id, status, mode, epoch, input_hash, agui_version, "
      "created_at) "
      "VALUES ('ann', 'r1', 1, 'running', 'chat', 5, 'h', '1.0', 1)",
      "INSERT INTO run_inputs(run_id, input) VALUES (1, '{}')",
      "INSERT INTO log(run_id, first_n, last_n, epoch, body) VALUES (1, 1, 2, 5, '[\"012345\"]')",
      "INSERT INTO checkpoints(run_id, number, stage, kind, body) "
      "VALUES (1, 1, 's', 'k', '{\"x\":\"0123456789ab\"}')",
      "INSERT INTO agent_chat_messages(session_id, run_id, message_id, seq, role, content, metadata, "
      "visibility_mask, input_tokens, output_tokens, cost, currency, created_at) "
      "VALUES (1, 1, 'm1', 1, 'user', 'hello', '{\"type\":\"user_input\"}', 3, 0, 0, 0, 'CNY', 1)",
      "UPDATE runs SET status = 'completed', ended_at = 2",
      old_call("c1", "gone", "9223372036854775807", "9223372036854775807", unit),
      old_call("c2", "t1", "100", "5", unit),
      "UPDATE model_calls SET status = 'completed', ended_at = 1",
      old_call("c3", "t1", "7", "0", unit),
      "UPDATE model_calls SET run_id = NULL WHERE id = 'c1'",
  };
}

void expect_old_rows_are_summed(Store& store) {
  UsageQuery query;
  query.owner = kAnn;
  query.group = UsageGroup::thread;
  auto const report = run_async(store.usage(query)).value();
  EXPECT_EQ(report.total.cost, "9223372.036854775907");
  EXPECT_EQ(report.total.calls, 2);
  EXPECT_EQ(report.total.input_tokens, INT64_MAX);
  EXPECT_FALSE(report.total.complete);
  ASSERT_EQ(report.rows.size(), 2u);
  EXPECT_EQ(report.rows[0].key, "gone");
  EXPECT_EQ(report.rows[1].cost, "0.0000000001");

  auto next = admission("r2", "t2");
  next.budgets.user = Money{INT64_MAX};
  EXPECT_EQ(run_async(store.admit(next)).value().outcome, Admission::Outcome::over_budget);
  next.budgets = {};
  next.budgets.thread = Money{107};
  next.thread = ThreadId{"t1"};
  EXPECT_EQ(run_async(store.admit(next)).value().outcome, Admission::Outcome::over_budget)
      << "what an open call holds counts";
  next.budgets.thread = Money{108};
  next.max_stored_bytes = 2 + 10 + 20 + 21 + 5;
  auto const full = run_async(store.admit(next)).value();
  EXPECT_EQ(full.outcome, Admission::Outcome::over_quota);
  EXPECT_EQ(full.stored_bytes, next.max_stored_bytes);
  ++next.max_stored_bytes;
  EXPECT_EQ(run_async(store.admit(next)).value().outcome, Admission::Outcome::running);
}

}  // namespace runnel::store

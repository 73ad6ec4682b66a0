#include "runnel/store/testing/store_contract.h"

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
  request.country = "CN";
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
  under_test_ = GetParam().make(module_migrations());
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

}  // namespace runnel::store

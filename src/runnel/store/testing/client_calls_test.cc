// AGUI-6: the calls of runs to tools of their clients, from the message that makes one to the run that closes
// it.
#include "runnel/store/client_calls.h"

#include <string>
#include <utility>
#include <vector>

#include "runnel/store/testing/store_contract.h"

namespace runnel::store {
namespace {

NewMessage call_message(std::string const& call) {
  auto row = message("m-" + call, Role::assistant, "tool_call");
  row.content = R"({"x":1})";
  row.opens_call = ToolCallId{call};
  return row;
}

NewMessage result_message(std::string const& call, std::string content = "found") {
  auto row = message("result-" + call, Role::tool, "tool_result");
  row.content = std::move(content);
  row.closes_call = ToolCallId{call};
  return row;
}

AdmitRequest closing(std::string const& run, std::vector<std::string> const& calls) {
  auto request = admission(run);
  for (auto const& call : calls)
    request.begin.closings.push_back(result_message(call));
  return request;
}

// A request whose only input is the answers to these calls.
AdmitRequest reply(std::string const& run, std::vector<std::string> const& calls) {
  auto request = closing(run, calls);
  request.begin.user_message.id = {};
  return request;
}

class StoreClientCalls : public StoreContract {
 protected:
  // A run that has made these calls, and has not ended.
  Admission make_calls(std::string const& run, std::vector<std::string> const& calls) {
    auto const admitted = admit(admission(run));
    std::vector<NewMessage> rows;
    for (auto const& call : calls)
      rows.push_back(call_message(call));
    auto const made =
        run_async(store().append(append_request(admitted.run, admitted.epoch, batch(3, 3), rows)));
    EXPECT_TRUE(made) << made.error().detail;
    return admitted;
  }
  // The same run, ended.
  Admission leave_calls(std::string const& run, std::vector<std::string> const& calls,
                        RunStatus status = RunStatus::completed) {
    auto admitted = make_calls(run, calls);
    end(admitted.run, admitted.epoch, batch(4, 4), status);
    return admitted;
  }

  std::vector<std::string> open_calls(std::string const& thread = "t1", UserId const& owner = kAnn) {
    std::vector<std::string> ids;
    for (auto const& open : run_async(ClientCalls{store()}.open(owner, ThreadId{thread})).value())
      ids.push_back(open.call.text);
    return ids;
  }
  std::vector<std::string> closed_by(Admission const& run) {
    std::vector<std::string> ids;
    for (auto const& id : run_async(ClientCalls{store()}.closed_by(run.thread, run.run)).value())
      ids.push_back(id.text);
    return ids;
  }
  Errc refused(AdmitRequest request) { return refusal(run_async(store().admit(std::move(request)))); }
};

using Ids = std::vector<std::string>;

TEST_P(StoreClientCalls, AGUI_6_CallsOfACompletedRunWaitForTheNextRunOfTheThread) {
  leave_calls("r1", {"c1", "c2"});

  EXPECT_EQ(open_calls(), (Ids{"c1", "c2"}));
  auto const open = run_async(ClientCalls{store()}.open(kAnn, kThread)).value();
  EXPECT_EQ(open.at(0).args, R"({"x":1})");
  EXPECT_EQ(open.at(0).mask, 3);
  EXPECT_NE(open.at(0).metadata.find("tool_call"), std::string::npos);
  EXPECT_TRUE(open_calls("t2").empty());
  EXPECT_TRUE(open_calls("t1", kBob).empty());
}

TEST_P(StoreClientCalls, AGUI_6_ARunBeginsOnlyIfItClosesExactlyTheOpenCalls) {
  leave_calls("r1", {"c1", "c2"});

  EXPECT_EQ(refused(admission("r2")), Errc::open_calls);
  EXPECT_EQ(refused(closing("r2", {"c1"})), Errc::open_calls);
  EXPECT_EQ(refused(closing("r2", {"c1", "c3"})), Errc::open_calls);
  EXPECT_EQ(refused(closing("r2", {"c1", "c2", "c3"})), Errc::open_calls);
  EXPECT_TRUE(sql("SELECT id FROM runs WHERE run_ref = 'r2'").empty());
  EXPECT_EQ(message_rows().size(), 3u);

  auto const admitted = admit(closing("r2", {"c1", "c2"}));
  EXPECT_EQ(admitted.outcome, Admission::Outcome::running);
  EXPECT_EQ(message_rows(),
            (Ids{"user:1:3", "assistant:2:3", "assistant:3:3", "tool:4:3", "tool:5:3", "user:6:3"}));
  EXPECT_TRUE(open_calls().empty());
  EXPECT_EQ(closed_by(admitted).size(), 2u);
}

TEST_P(StoreClientCalls, AGUI_6_AReplyHasNoUserMessageAndItsBytesCount) {
  leave_calls("r1", {"c1"});
  auto const admitted = admit(reply("r2", {"c1"}));

  EXPECT_EQ(message_rows(), (Ids{"user:1:3", "assistant:2:3", "tool:3:3"}));
  auto const metadata = reply("r2", {"c1"}).begin.closings.at(0).metadata;
  auto const bytes = std::string{"found"}.size() + metadata.size() + reply("r2", {"c1"}).input.size();
  EXPECT_EQ(cell("SELECT kept_bytes FROM runs WHERE run_ref = 'r2'"), std::to_string(bytes));
  end(admitted.run, admitted.epoch, batch(3, 3));
  EXPECT_EQ(cell("SELECT count(*) FROM client_calls"), "0");
  EXPECT_EQ(admit(admission("r3")).outcome, Admission::Outcome::running);
}

TEST_P(StoreClientCalls, AGUI_6_TheContextOfARunHasTheResultsWithWhichItBegan) {
  leave_calls("r1", {"c1"});
  auto const admitted = admit(reply("r2", {"c1"}));
  auto own = message("own", Role::tool, "tool_result");
  ASSERT_TRUE(run_async(store().append(append_request(admitted.run, admitted.epoch, batch(3, 3), {own}))));

  auto const context = run_async(store().context(admitted.thread, admitted.run, {100, 1 << 20})).value();
  Ids ids;
  for (auto const& row : context)
    ids.push_back(row.id.text);
  EXPECT_EQ(ids, (Ids{"r1-user", "m-c1", "result-c1"}));
}

TEST_P(StoreClientCalls, AGUI_6_CallsOfARunThatDidNotCompleteDoNotWait) {
  leave_calls("r1", {"c1"}, RunStatus::failed);
  EXPECT_TRUE(open_calls().empty());
  auto const second = make_calls("r2", {"c2"});
  ASSERT_TRUE(run_async(store().request_cancel(second.run, kNow)));
  end(second.run, second.epoch, batch(4, 4), RunStatus::canceled);

  EXPECT_EQ(admit(admission("r3")).outcome, Admission::Outcome::running);
  EXPECT_EQ(cell("SELECT count(*) FROM client_calls"), "0");
}

TEST_P(StoreClientCalls, AGUI_6_AQueuedRunClosesTheCallsWhenItBegins) {
  auto const first = make_calls("r1", {"c1"});
  auto const second = admit(admission("r2", OnBusy::enqueue));
  ASSERT_EQ(second.outcome, Admission::Outcome::queued);
  ASSERT_EQ(end(first.run, first.epoch, batch(4, 4)).promoted, second.run);

  ClaimRequest request{second.run, NodeId{"n"}, kNow, begin("u2")};
  EXPECT_EQ(refusal(run_async(store().claim(request))), Errc::open_calls);
  EXPECT_EQ(status(second.run), RunStatus::pending);
  request.begin->closings.push_back(result_message("c1"));
  EXPECT_TRUE(run_async(store().claim(request)));
  EXPECT_TRUE(open_calls().empty());
}

TEST_P(StoreClientCalls, AGUI_6_RollbackOfTheRunThatAnsweredOpensTheCallAgain) {
  leave_calls("r1", {"c1"});
  auto const second = admit(reply("r2", {"c1"}));
  EXPECT_TRUE(open_calls().empty());
  EXPECT_EQ(run_async(ClientCalls{store()}.open(kAnn, kThread, true)).value().size(), 1u);
  auto const third = admit(admission("r3", OnBusy::rollback));
  ASSERT_EQ(third.outcome, Admission::Outcome::queued);
  end(second.run, second.epoch, batch(3, 3), RunStatus::canceled);

  EXPECT_EQ(open_calls(), Ids{"c1"});
  ClaimRequest request{third.run, NodeId{"n"}, kNow, begin("u3")};
  auto again = result_message("c1");
  again.id = MessageId{"again"};
  request.begin->closings.push_back(again);
  EXPECT_TRUE(run_async(store().claim(request)));
  EXPECT_TRUE(open_calls().empty());
}

TEST_P(StoreClientCalls, AGUI_6_RollbackOfTheRunThatMadeTheCallLeavesNothingOpen) {
  auto const first = make_calls("r1", {"c1"});
  auto const second = admit(admission("r2", OnBusy::rollback));
  end(first.run, first.epoch, batch(4, 4), RunStatus::canceled);

  EXPECT_TRUE(open_calls().empty());
  claim(second.run);
  EXPECT_EQ(cell("SELECT count(*) FROM client_calls"), "0");
}

TEST_P(StoreClientCalls, AGUI_6_ADeletedThreadLeavesNothingOpen) {
  leave_calls("r1", {"c1"});
  ASSERT_EQ(run_async(store().delete_thread(kAnn, kThread)).value(), DeleteOutcome::deleted);

  EXPECT_TRUE(open_calls().empty());
  EXPECT_EQ(admit(admission("r1")).outcome, Admission::Outcome::running);
  purge_all();
  EXPECT_EQ(cell("SELECT count(*) FROM client_calls"), "0");
}

TEST_P(StoreClientCalls, AGUI_6_OnlyTheBeginningOfARunClosesCalls) {
  auto const first = make_calls("r1", {"c1"});

  auto const closes = append_request(first.run, first.epoch, batch(4, 4), {result_message("c1")});
  EXPECT_EQ(refusal(run_async(store().append(closes))), Errc::invalid);
  auto plain = admission("r2", "t2");
  plain.begin.closings.push_back(message("m", Role::tool, "tool_result"));
  EXPECT_EQ(refused(plain), Errc::invalid);
}

TEST_P(StoreClientCalls, AGUI_6_MessagesAreFoundByTheirIdsInTheirThreadOnly) {
  leave_calls("r1", {"c1"});
  ClientCalls calls{store()};

  EXPECT_EQ(run_async(calls.message(kAnn, kThread, "m-c1")).value()->role, "assistant");
  EXPECT_FALSE(run_async(calls.message(kAnn, kThread, "m-c2")).value());
  EXPECT_FALSE(run_async(calls.message(kBob, kThread, "m-c1")).value());
  EXPECT_FALSE(run_async(calls.newest_user_text(kAnn, kThread)).value().empty());
  EXPECT_EQ(run_async(calls.newest_user_text(kBob, kThread)).value(), "");
}

INSTANTIATE_TEST_SUITE_P(Engines, StoreClientCalls, testing::Values(sqlite_engine(), postgres_engine()),
                         engine_name);

}  // namespace
}  // namespace runnel::store

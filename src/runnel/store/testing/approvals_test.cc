#include "runnel/store/approvals.h"

#include <set>
#include <utility>

#include "runnel/store/testing/store_contract.h"

namespace runnel::store {
namespace {

std::string const kShownHash(64, 'b');
constexpr std::int64_t kExpires = kNow + 60'000;
using Kind = AnswerOutcome::Kind;

class StoreApprovals : public StoreContract {
 protected:
  void SetUp() override {
    StoreContract::SetUp();
    if (IsSkipped()) return;
    run_ = admit(admission("r1"));
    ASSERT_TRUE(wait(run_, 3, "c1"));
    approvals_.emplace(store());
  }

  Result<void> wait(Admission const& run, std::uint64_t n, std::string id,
                    std::int64_t expires_at = kExpires) {
    auto request = append_request(run.run, run.epoch, batch(n, n));
    request.tool_starts.push_back({ToolCallId{std::move(id)}, "calendar.create", kShownHash,
                                   ApprovalQuestion{R"({"module":"calendar"})", expires_at}});
    request.now = kNow;
    return run_async(store().append(std::move(request)));
  }
  static ApprovalAnswer answer_of(Decision decision, std::string call = "c1", UserId owner = kAnn) {
    ApprovalAnswer out;
    out.owner = std::move(owner);
    out.thread = kThread;
    out.call = ToolCallId{std::move(call)};
    out.decision = decision;
    out.now = kNow + 5000;
    return out;
  }
  AnswerOutcome answer(ApprovalAnswer const& given) { return run_async(approvals_->answer(given)).value(); }
  // The answer under an id that the client has chosen.
  AnswerOutcome answer_as(std::string alias, Decision decision = Decision::approved,
                          std::string call = "c1") {
    auto given = answer_of(decision, std::move(call));
    given.alias = RunId{std::move(alias)};
    return answer(given);
  }
  std::optional<RunRow> find(std::string id, UserId owner = kAnn) {
    return run_async(store().find_owned_run(std::move(owner), RunId{std::move(id)})).value();
  }
  // The run waits again, for another call.
  void wait_again(std::uint64_t n, std::string call) {
    auto const claimed = claim(run_.run, kNow + 6000);
    run_.epoch = claimed.epoch;
    auto request = append_request(run_.run, run_.epoch, batch(n, n));
    request.tool_starts.push_back({ToolCallId{std::move(call)}, "calendar.create", kShownHash,
                                   ApprovalQuestion{R"({"module":"calendar"})", kExpires}});
    request.now = kNow + 7000;
    ASSERT_TRUE(run_async(store().append(std::move(request))));
  }
  std::vector<RunKey> wake(std::int64_t now) { return run_async(approvals_->wake_due(now, 10)).value(); }

  Admission run_;
  std::optional<Approvals> approvals_;
};

TEST_P(StoreApprovals, RUN_13_AWaitingRunHasNoWriter) {
  EXPECT_EQ(status(run_.run), RunStatus::awaiting_approval);
  EXPECT_EQ(cell("SELECT coalesce(node, 'none') FROM runs"), "none");
  EXPECT_EQ(refusal(run_async(store().append(append_request(run_.run, run_.epoch, batch(4, 4))))),
            Errc::fenced);
  EXPECT_EQ(refusal(run_async(store().claim({run_.run, NodeId{"n"}, kNow, std::nullopt}))), Errc::conflict);
  EXPECT_TRUE(run_async(store().runs_to_recover(RunKey{}, 10)).value().empty());
  // The same append again is the one that was written.
  EXPECT_TRUE(wait(run_, 3, "c1"));
}

TEST_P(StoreApprovals, RUN_13_AnAnswerMakesTheRunPendingAndIsNoCrash) {
  auto given = answer_of(Decision::rejected);
  given.reason = "not today";

  auto const outcome = answer(given);

  EXPECT_EQ(outcome.kind, Kind::accepted);
  EXPECT_EQ(outcome.run, run_.run);
  EXPECT_EQ(status(run_.run), RunStatus::pending);
  EXPECT_EQ(run_async(store().runs_to_recover(RunKey{}, 10)).value().size(), 1U);
  auto const claimed = claim(run_.run, kNow + 6000);
  EXPECT_EQ(claimed.crashes, 0);
  EXPECT_EQ(claimed.last_n, 3U);
  auto const state = run_async(approvals_->state(run_.run, ToolCallId{"c1"})).value();
  EXPECT_EQ(state.decision, Decision::rejected);
  EXPECT_EQ(state.reason, "not today");
  EXPECT_EQ(state.args_hash, kShownHash);
  EXPECT_EQ(run_async(approvals_->waited(run_.run)).value(), 5000);
}

TEST_P(StoreApprovals, RUN_13_ADecisionIsUsedOnce) {
  EXPECT_EQ(answer(answer_of(Decision::approved)).kind, Kind::accepted);

  auto const second = answer(answer_of(Decision::rejected));

  EXPECT_EQ(second.kind, Kind::already_decided);
  EXPECT_EQ(second.decision, Decision::approved);
  EXPECT_TRUE(sql_refused("UPDATE approvals SET decision = 'rejected'"));
  EXPECT_TRUE(sql_refused("UPDATE approvals SET args = '{}'"));
}

TEST_P(StoreApprovals, RUN_13_OnlyTheOwnerAnswersAndOnlyWhatWasAsked) {
  EXPECT_EQ(answer(answer_of(Decision::approved, "c1", kBob)).kind, Kind::not_found);
  EXPECT_EQ(answer(answer_of(Decision::approved, "c2")).kind, Kind::not_found);
  auto elsewhere = answer_of(Decision::approved);
  elsewhere.thread = ThreadId{"t2"};
  EXPECT_EQ(answer(elsewhere).kind, Kind::not_found);
  auto other = answer_of(Decision::approved);
  other.args_hash = std::string(64, 'c');
  EXPECT_EQ(answer(other).kind, Kind::other_arguments);
  EXPECT_EQ(status(run_.run), RunStatus::awaiting_approval);

  other.args_hash = kShownHash;
  EXPECT_EQ(answer(other).kind, Kind::accepted);
}

TEST_P(StoreApprovals, RUN_13_OverdueQuestionsExpireOnce) {
  EXPECT_TRUE(wake(kExpires - 1).empty());
  EXPECT_EQ(wake(kExpires), std::vector<RunKey>{run_.run});
  EXPECT_TRUE(wake(kExpires).empty());

  EXPECT_EQ(status(run_.run), RunStatus::pending);
  EXPECT_EQ(run_async(approvals_->state(run_.run, ToolCallId{"c1"})).value().decision, Decision::expired);
  EXPECT_EQ(answer(answer_of(Decision::approved)).decision, Decision::expired);
}

TEST_P(StoreApprovals, RUN_13_AnAnswerThatComesTooLateIsRefusedBeforeTheSweep) {
  auto late = answer_of(Decision::approved);
  late.now = kExpires;

  auto const outcome = answer(late);

  EXPECT_EQ(outcome.kind, Kind::already_decided);
  EXPECT_EQ(outcome.decision, Decision::expired);
  EXPECT_EQ(status(run_.run), RunStatus::awaiting_approval);
}

TEST_P(StoreApprovals, RUN_12_RunsThatNobodyContinuesAreFound) {
  EXPECT_TRUE(run_async(approvals_->pending_again(10)).value().empty());
  answer(answer_of(Decision::approved));

  EXPECT_EQ(run_async(approvals_->pending_again(10)).value(), std::vector<RunKey>{run_.run});
  claim(run_.run, kNow + 6000);
  EXPECT_TRUE(run_async(approvals_->pending_again(10)).value().empty());
}

TEST_P(StoreApprovals, SSE_4_QuestionsAreDeletedWithTheLog) {
  answer(answer_of(Decision::rejected));
  auto const claimed = claim(run_.run, kNow + 6000);
  end(run_.run, claimed.epoch, batch(4, 4));
  run_async(store().expire_logs(kNow + 1'000'000, 10)).value();
  purge_all();

  EXPECT_EQ(cell("SELECT count(*) FROM approvals"), "0");
}

TEST_P(StoreApprovals, RUN_13_AClockThatWasSetBackShortensNothing) {
  auto early = answer_of(Decision::approved);
  early.now = kNow - 50'000;
  answer(early);

  EXPECT_EQ(run_async(approvals_->waited(run_.run)).value(), 0);
}

TEST_P(StoreApprovals, RUN_4_ACanceledRunGoesOnWithoutADecision) {
  EXPECT_FALSE(run_async(approvals_->wake_canceled(run_.run)).value());
  auto const canceled = run_async(store().request_cancel(run_.run, kNow)).value();
  EXPECT_EQ(canceled.status, RunStatus::awaiting_approval);

  EXPECT_TRUE(run_async(approvals_->wake_canceled(run_.run)).value());

  EXPECT_EQ(status(run_.run), RunStatus::pending);
  EXPECT_TRUE(claim(run_.run).cancel_requested);
  EXPECT_FALSE(run_async(approvals_->state(run_.run, ToolCallId{"c1"})).value().decision);
  EXPECT_EQ(answer(answer_of(Decision::approved)).kind, Kind::not_found);
}

TEST_P(StoreApprovals, RUN_4_TheSweepFindsCanceledRunsThatNobodyWoke) {
  run_async(store().request_cancel(run_.run, kNow)).value();

  EXPECT_EQ(wake(kNow), std::vector<RunKey>{run_.run});
  EXPECT_FALSE(run_async(approvals_->state(run_.run, ToolCallId{"c1"})).value().decision);
}

TEST_P(StoreApprovals, RUN_13_AUserSeesWhatWaitsOverAllThreads) {
  auto const second = admit(admission("r2", "t2"));
  ASSERT_TRUE(wait(second, 3, "c2"));
  auto const foreign = admit(admission("r3", "t3", "bob"));
  ASSERT_TRUE(wait(foreign, 3, "c3"));
  answer(answer_of(Decision::approved));

  auto const waiting = run_async(approvals_->waiting_for(kAnn, 10)).value();

  ASSERT_EQ(waiting.size(), 1U);
  EXPECT_EQ(waiting[0].thread.text, "t2");
  EXPECT_EQ(waiting[0].run.text, "r2");
  EXPECT_EQ(waiting[0].call.text, "c2");
  EXPECT_EQ(waiting[0].name, "calendar.create");
  EXPECT_EQ(waiting[0].args, R"({"module":"calendar"})");
  EXPECT_EQ(waiting[0].expires_at, kExpires);
}

TEST_P(StoreApprovals, RUN_3_AWaitingRunKeepsItsThreadBusy) {
  EXPECT_EQ(admit(admission("r2")).outcome, Admission::Outcome::thread_busy);
  EXPECT_EQ(run_async(store().delete_thread(kAnn, kThread)).value(), DeleteOutcome::busy);

  auto const interrupting = admit(admission("r3", OnBusy::interrupt));
  EXPECT_EQ(interrupting.cancel_first, run_.run);
  EXPECT_TRUE(run_async(approvals_->wake_canceled(run_.run)).value());
}

TEST_P(StoreApprovals, AGUI_4_AChosenIdIsAnAliasOfTheRunAsSoonAsTheDecisionIs) {
  auto const outcome = answer_as("mine");

  EXPECT_EQ(outcome.kind, Kind::accepted);
  EXPECT_EQ(outcome.alias, RunId{"mine"});
  auto const found = find("mine");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->key, run_.run);
  EXPECT_EQ(found->id, RunId{"r1"});
  EXPECT_EQ(found->before_alias, (Position{run_.epoch, 3}));
  EXPECT_FALSE(find("r1")->before_alias);
  EXPECT_TRUE(run_async(store().find_run(kAnn, kThread, RunId{"mine"})).value());
  EXPECT_FALSE(run_async(store().find_run(kAnn, ThreadId{"t2"}, RunId{"mine"})).value());
  EXPECT_FALSE(find("mine", kBob));
  EXPECT_FALSE(find("r1~2"));
  EXPECT_EQ(run_async(approvals_->state(run_.run, ToolCallId{"c1"})).value().alias, RunId{"mine"});
  EXPECT_TRUE(sql_refused("UPDATE run_aliases SET alias = 'other'"));
}

TEST_P(StoreApprovals, AGUI_4_WithoutAChosenIdThePausesAreNumbered) {
  EXPECT_EQ(answer(answer_of(Decision::approved)).alias, RunId{"r1~2"});
  wait_again(4, "c2");
  EXPECT_EQ(answer_as("mine", Decision::approved, "c2").alias, RunId{"mine"});
  wait_again(5, "c3");
  EXPECT_EQ(wake(kExpires), std::vector<RunKey>{run_.run});

  EXPECT_EQ(find("r1~2")->before_alias->n, 3U);
  EXPECT_EQ(find("mine")->before_alias->n, 4U);
  EXPECT_EQ(find("r1~4")->before_alias->n, 5U);
  EXPECT_FALSE(find("r1~3"));
  EXPECT_EQ(run_async(approvals_->state(run_.run, ToolCallId{"c3"})).value().alias, RunId{"r1~4"});
}

TEST_P(StoreApprovals, AGUI_4_ACanceledRunGoesOnUnderTheNextId) {
  run_async(store().request_cancel(run_.run, kNow)).value();
  EXPECT_TRUE(run_async(approvals_->wake_canceled(run_.run)).value());

  EXPECT_EQ(find("r1~2")->before_alias->n, 3U);
}

TEST_P(StoreApprovals, AGUI_4_ALaterAnswerLearnsUnderWhichIdTheRunWentOn) {
  EXPECT_EQ(answer_as("mine").kind, Kind::accepted);

  for (auto const* const alias : {"mine", "another", ""}) {
    auto const again = answer_as(alias);
    EXPECT_EQ(again.kind, Kind::already_decided) << alias;
    EXPECT_EQ(again.decision, Decision::approved);
    EXPECT_EQ(again.alias, RunId{"mine"}) << alias;
  }
  EXPECT_FALSE(find("another"));
}

TEST_P(StoreApprovals, RUN_2_AnIdThatIsInUseBecomesNoAlias) {
  auto const old = admit(admission("old", "t2"));
  end(old.run, old.epoch, batch(3, 3));
  admit(admission("of-bob", "t3", "bob"));
  for (auto const* const taken : {"r1", "old"}) {
    EXPECT_EQ(answer_as(taken).kind, Kind::alias_taken) << taken;
  }
  EXPECT_EQ(status(run_.run), RunStatus::awaiting_approval);
  EXPECT_EQ(cell("SELECT count(*) FROM run_aliases"), "0");

  EXPECT_EQ(answer_as("of-bob").kind, Kind::accepted);
  wait_again(4, "c2");
  EXPECT_EQ(answer_as("of-bob", Decision::approved, "c2").kind, Kind::alias_taken);
  EXPECT_EQ(answer_as("old").kind, Kind::alias_taken);
}

TEST_P(StoreApprovals, RUN_2_AnAliasBecomesNoRun) {
  answer_as("mine");

  auto const refused = admit(admission("mine", "t2"));

  EXPECT_EQ(refused.outcome, Admission::Outcome::id_conflict);
  EXPECT_EQ(refused.run, run_.run);
  EXPECT_EQ(admit(admission("mine", "t3", "bob")).outcome, Admission::Outcome::running);
  EXPECT_TRUE(sql_refused("INSERT INTO run_aliases VALUES ('ann', 'r1', " + std::to_string(run_.run.value) +
                          ", 'c9', 1, 1)"));
}

// An answer reads before it writes. With a few reads before the admission, sometimes the one is first and
// sometimes the other.
boost::asio::awaitable<void> after_reads(Store& store, std::size_t reads, boost::asio::awaitable<void> work) {
  for (std::size_t i = 0; i < reads; ++i)
    co_await store.run_by_key(RunKey{1});
  co_await std::move(work);
}

// Of two requests at once that use the same new id, one for a run and one for an answer, one is refused.
TEST_P(StoreApprovals, RUN_2_AnIdIsGivenOnceHoweverManyAskAtOnce) {
  constexpr std::size_t kPairs = 100;
  std::vector<std::optional<Result<Admission>>> admitted(kPairs);
  std::vector<std::optional<Result<AnswerOutcome>>> answered(kPairs);
  for (std::size_t i = 0; i < kPairs; ++i) {
    auto const number = std::to_string(i);
    ASSERT_TRUE(wait(admit(admission("waits" + number, "waits" + number)), 3, "call" + number));
  }
  for (std::size_t i = 0; i < kPairs; ++i) {
    auto const number = std::to_string(i);
    auto given = answer_of(Decision::approved, "call" + number);
    given.thread = ThreadId{"waits" + number};
    given.alias = RunId{"new" + number};
    std::vector<boost::asio::awaitable<void>> work;
    work.push_back(detail::keep_outcome(approvals_->answer(given), answered[i]));
    auto admitting = store().admit(admission("new" + number, "new" + number));
    work.push_back(after_reads(store(), i % 3, detail::keep_outcome(std::move(admitting), admitted[i])));
    run_to_end(std::move(work));
  }

  for (std::size_t i = 0; i < kPairs; ++i) {
    bool const is_run = admitted[i]->value().outcome == Admission::Outcome::running;
    auto const kind = answered[i]->value().kind;
    EXPECT_EQ(kind, is_run ? Kind::alias_taken : Kind::accepted) << i;
    EXPECT_TRUE(is_run || admitted[i]->value().outcome == Admission::Outcome::id_conflict) << i;
  }
}

TEST_P(StoreApprovals, AGUI_4_TheAliasesOfADeletedThreadAreFreeAtOnce) {
  answer_as("mine");
  auto const claimed = claim(run_.run, kNow + 6000);
  end(run_.run, claimed.epoch, batch(4, 4));
  ASSERT_EQ(run_async(store().delete_thread(kAnn, kThread)).value(), DeleteOutcome::deleted);
  EXPECT_FALSE(find("mine"));

  run_ = admit(admission("r2", "t2"));
  ASSERT_TRUE(wait(run_, 3, "c2"));
  auto given = answer_of(Decision::approved, "c2");
  given.thread = ThreadId{"t2"};
  given.alias = RunId{"mine"};
  EXPECT_EQ(answer(given).kind, Kind::accepted);
  EXPECT_EQ(find("mine")->key, run_.run);
  purge_all();
  EXPECT_EQ(cell("SELECT count(*) FROM run_aliases"), "1");
}

TEST_P(StoreApprovals, AGUI_4_ARunMayHaveTheIdOfADeletedThreadsAlias) {
  answer_as("mine");
  auto const claimed = claim(run_.run, kNow + 6000);
  end(run_.run, claimed.epoch, batch(4, 4));
  run_async(store().delete_thread(kAnn, kThread)).value();

  auto const admitted = admit(admission("mine", "t2"));

  EXPECT_EQ(admitted.outcome, Admission::Outcome::running);
  EXPECT_EQ(find("mine")->key, admitted.run);
  purge_all();
  EXPECT_EQ(cell("SELECT count(*) FROM run_aliases"), "0");
  EXPECT_EQ(find("mine")->key, admitted.run);
}

TEST_P(StoreApprovals, AGUI_4_ThePausesOfAnOlderVersionAreNumberedToo) {
  answer(answer_of(Decision::approved));
  sql("DELETE FROM run_aliases");

  EXPECT_EQ(answer_as("mine").alias, RunId{"r1~2"});
  EXPECT_EQ(run_async(approvals_->state(run_.run, ToolCallId{"c1"})).value().alias, RunId{});
}

TEST_P(StoreApprovals, AGUI_4_WhatWaitsOnAThreadIsKnown) {
  EXPECT_EQ(run_async(approvals_->waiting_on(kAnn, kThread)).value()->call, ToolCallId{"c1"});
  EXPECT_FALSE(run_async(approvals_->waiting_on(kBob, kThread)).value());
  EXPECT_FALSE(run_async(approvals_->waiting_on(kAnn, ThreadId{"t2"})).value());
  answer(answer_of(Decision::rejected));
  EXPECT_FALSE(run_async(approvals_->waiting_on(kAnn, kThread)).value());
}

INSTANTIATE_TEST_SUITE_P(Engines, StoreApprovals, testing::Values(sqlite_engine(), postgres_engine()),
                         engine_name);

}  // namespace
}  // namespace runnel::store

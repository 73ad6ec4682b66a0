#include "runnel/store/testing/ledger_contract.h"

// The ledger of model calls (USE-8): how an attempt is opened, ended and booked.
namespace runnel::store {
namespace {

class StoreCalls : public LedgerContract {
 protected:
  std::vector<UnbookedCall> unbooked() { return run_async(store().unbooked_calls(run_.run)).value(); }
  NewMessage costing(std::string id, Money cost) {
    auto out = answer(std::move(id));
    out.cost = cost;
    return out;
  }
  // The end of the run, with the end of its call, which is booked on the message m1.
  EndRequest end_with_call(std::string const& call) {
    auto request = end_request(run_.run, run_.epoch, batch(3, 3));
    request.append.messages = {costing("m1", Money{10})};
    request.append.call_ends = {call_end(call, Money{11})};
    request.append.bookings = {booking(call, "m1", Money{10})};
    return request;
  }
};

TEST_P(StoreCalls, USE_8_OpenCallIsInTheLedgerAndHoldsItsReserve) {
  ASSERT_TRUE(open("c1", Money{900}));

  EXPECT_EQ(state("c1"), "open:900");
  EXPECT_EQ(sql("SELECT owner_id, thread_ref, run_ref, stage, attempt, provider, model, started_at, "
                "input_estimate, currency, ended_at, message_id FROM model_calls"),
            (TextRows{{"ann", "t1", "r1", "answer", "1", "deepseek", "deepseek-chat", std::to_string(kNow),
                       "70", "CNY", "null", "null"}}));
}

TEST_P(StoreCalls, USE_8_RepeatedOpenChangesNothing) {
  ASSERT_TRUE(open("c1", Money{900}));

  EXPECT_TRUE(open("c1", Money{900}));

  EXPECT_EQ(calls(), "1");
}

TEST_P(StoreCalls, USE_8_RepeatedOpenFindsRoomInABudgetThatItFillsItself) {
  auto call = new_call("c1", run_, Money{900});
  call.budgets.run = Money{900};
  ASSERT_TRUE(open(call));

  EXPECT_TRUE(open(call));
}

TEST_P(StoreCalls, USE_8_IdOfAnotherRunsCallIsTaken) {
  auto const other = admit(admission("r2", "t2", "bob"));
  ASSERT_TRUE(open("c1"));

  EXPECT_EQ(refusal(open(new_call("c1", other))), Errc::already_exists);
}

TEST_P(StoreCalls, RUN_12_OnlyTheRunsWriterOpensCalls) {
  auto const newer = claim(run_.run, kNow + 5);
  EXPECT_EQ(refusal(open("c1")), Errc::fenced);
  auto call = new_call("c1", run_);
  call.epoch = newer.epoch;
  ASSERT_TRUE(open(call));
  EXPECT_EQ(refusal(open("c1")), Errc::fenced) << "a repeat by an earlier writer";

  end(run_.run, newer.epoch, batch(3, 3));

  call.id = "c2";
  EXPECT_EQ(refusal(open(call)), Errc::fenced);
  call.run = RunKey{999};
  EXPECT_EQ(refusal(open(call)), Errc::fenced);
  EXPECT_EQ(calls(), "1");
}

TEST_P(StoreCalls, USE_8_CallWithoutNamesOrWithANulIsInvalid) {
  for (auto const member : {&NewCall::id, &NewCall::provider, &NewCall::model}) {
    auto call = new_call("c1", run_);
    call.*member = "";
    EXPECT_EQ(refusal(open(call)), Errc::invalid);
    call.*member = std::string{"a\0b", 3};
    EXPECT_EQ(refusal(open(call)), Errc::invalid);
  }
  EXPECT_EQ(refusal(open("c1", Money{-1})), Errc::invalid);
  EXPECT_EQ(calls(), "0");
}

TEST_P(StoreCalls, USE_8_EndIsWrittenWithItsFacts) {
  ASSERT_TRUE(open("c1"));
  auto end = call_end("c1", Money{123}, CallStatus::failed);
  end.error_code = "MODEL_ERROR";
  end.cost.direct = Money{77};
  end.cost.direct_observed = true;

  ASSERT_TRUE(append({}, {end}));

  EXPECT_EQ(row(run_.run).last_n, 3u);
  EXPECT_EQ(state("c1"), "failed:123");
  EXPECT_EQ(
      sql("SELECT ended_at, error_code, latency_ms, first_token_ms, price_list, price FROM model_calls"),
      (TextRows{{std::to_string(kNow + 5), "MODEL_ERROR", "5", "2", "custom_pricing",
                 R"({"model":"deepseek-chat"})"}}));
  auto const left = unbooked();
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left[0].status, CallStatus::failed);
  EXPECT_EQ(left[0].tokens, end.tokens);
  EXPECT_EQ(left[0].cost, end.cost);
}

TEST_P(StoreCalls, USE_8_UnbookedCallsAreOldestFirstAndTheRunsOwn) {
  auto const other = admit(admission("r2", "t2"));
  ASSERT_TRUE(open(new_call("c9", other)));
  ASSERT_TRUE(open("c2", Money{600}));
  ASSERT_TRUE(open("c1"));
  ASSERT_TRUE(open("c3"));
  ASSERT_TRUE(append({costing("m1", Money{5})}, {call_end("c3", Money{5})}, {booking("c3", "m1", Money{5})}));

  auto const left = unbooked();

  ASSERT_EQ(left.size(), 2u);
  EXPECT_EQ(left[0].id, "c2");
  EXPECT_EQ(left[0].status, CallStatus::open);
  EXPECT_EQ(left[0].stage, "answer");
  EXPECT_EQ(left[0].provider, "deepseek");
  EXPECT_EQ(left[0].model, "deepseek-chat");
  EXPECT_EQ(left[0].started_at, kNow);
  EXPECT_EQ(left[0].input_estimate, 70);
  EXPECT_EQ(left[0].cost_estimate, Money{300});
  EXPECT_EQ(left[0].tokens, (TokenCounts{0, 0, 0, 0, 0, 0, 0, 0, false}));
  EXPECT_EQ(left[1].id, "c1");
}

TEST_P(StoreCalls, USE_8_CallIsEndedAndBookedInOneCommit) {
  ASSERT_TRUE(open("c1"));
  ASSERT_TRUE(open("c2"));

  ASSERT_TRUE(append({costing("m1", Money{30})}, {call_end("c1", Money{11}), call_end("c2", Money{22})},
                     {booking("c1", "m1", Money{10}), booking("c2", "m1", Money{20})}));

  EXPECT_EQ(state("c1"), "completed:10");
  EXPECT_EQ(state("c2"), "completed:20");
  EXPECT_EQ(sql("SELECT DISTINCT message_id, cost_source FROM model_calls"),
            (TextRows{{"m1", "catalog_fallback"}}));
  EXPECT_TRUE(unbooked().empty());
  EXPECT_EQ(run_async(store().run_usage(run_.run)).value().cost, Money{30});
}

TEST_P(StoreCalls, USE_8_CallIsBookedLaterOnARowOfThisRequestOrAnEarlierOne) {
  ASSERT_TRUE(open("c1"));
  ASSERT_TRUE(open("c2"));
  ASSERT_TRUE(append({answer("m1")}, {call_end("c1", Money{0}), call_end("c2", Money{7})}));

  ASSERT_TRUE(
      append({costing("m2", Money{7})}, {}, {booking("c1", "m1", Money{0}), booking("c2", "m2", Money{7})}));

  EXPECT_EQ(state("c2"), "completed:7");
  EXPECT_TRUE(unbooked().empty());
}

TEST_P(StoreCalls, USE_8_RepeatOfACommittedSettlementSucceedsAndChangesNothing) {
  ASSERT_TRUE(open("c1"));
  auto request = append_request(run_.run, run_.epoch, batch(3, 3), {costing("m1", Money{10})});
  request.call_ends = {call_end("c1", Money{11})};
  request.bookings = {booking("c1", "m1", Money{10})};
  ASSERT_TRUE(run_async(store().append(request)));

  EXPECT_TRUE(run_async(store().append(request)));

  EXPECT_EQ(state("c1"), "completed:10");
}

TEST_P(StoreCalls, USE_8_RepeatOfACommittedEndOfTheRunSucceedsToo) {
  ASSERT_TRUE(open("c1"));
  auto const request = end_with_call("c1");
  ASSERT_TRUE(run_async(store().end(request)));

  EXPECT_TRUE(run_async(store().end(request)));

  EXPECT_EQ(state("c1"), "completed:10");
}

TEST_P(StoreCalls, USE_8_EndOfACallThatIsNotOpenOrNotTheRunsIsInvalidAndWritesNothing) {
  auto const other = admit(admission("r2", "t2"));
  ASSERT_TRUE(open(new_call("foreign", other)));
  ASSERT_TRUE(open("c1"));
  ASSERT_TRUE(open("c2"));
  end_call("c1", Money{10});

  for (auto const* const id : {"c1", "foreign", "unknown"}) {
    EXPECT_EQ(refusal(append({answer("m1")}, {call_end("c2", Money{1}), call_end(id, Money{1})})),
              Errc::invalid)
        << id;
  }
  EXPECT_EQ(refusal(append({}, {call_end("c2", Money{1}), call_end("c2", Money{1})})), Errc::invalid);
  EXPECT_EQ(refusal(append({}, {call_end("c2", Money{1}, CallStatus::open)})), Errc::invalid);
  auto request = end_request(run_.run, run_.epoch, batch(4, 4));
  request.append.call_ends = {call_end("c1", Money{1})};
  EXPECT_EQ(refusal(run_async(store().end(request))), Errc::invalid);

  EXPECT_EQ(row(run_.run).last_n, 3u);
  EXPECT_EQ(status(run_.run), RunStatus::running);
  EXPECT_EQ(message_rows().size(), 1u);
  EXPECT_EQ(state("c1"), "completed:10");
  EXPECT_EQ(state("c2"), "open:1000");
  EXPECT_EQ(state("foreign"), "open:1000");
}

TEST_P(StoreCalls, USE_8_BookingOfACallThatHasNotEndedOrIsBookedOrIsNotTheRunsIsInvalid) {
  auto const other = admit(admission("r2", "t2"));
  ASSERT_TRUE(open(new_call("foreign", other)));
  auto foreign = append_request(other.run, other.epoch, batch(3, 3), {answer("m-foreign")});
  foreign.call_ends = {call_end("foreign", Money{0})};
  ASSERT_TRUE(run_async(store().append(foreign)));
  for (auto const* const id : {"open", "booked", "ended"}) {
    ASSERT_TRUE(open(id));
  }
  ASSERT_TRUE(append({answer("m1")}, {call_end("booked", Money{0}), call_end("ended", Money{3})},
                     {booking("booked", "m1", Money{0})}));

  for (auto const* const id : {"open", "booked", "foreign", "unknown"}) {
    EXPECT_EQ(refusal(append({}, {}, {booking(id, "m1", Money{0})})), Errc::invalid) << id;
  }
  EXPECT_EQ(refusal(append({}, {}, {booking("ended", "m-foreign", Money{0})})), Errc::invalid);
  EXPECT_EQ(refusal(append({}, {}, {booking("ended", "nowhere", Money{0})})), Errc::invalid);
  EXPECT_EQ(refusal(append({}, {}, {booking("ended", "m1", Money{0}), booking("ended", "m1", Money{0})})),
            Errc::invalid);

  EXPECT_EQ(state("ended"), "completed:3");
  EXPECT_EQ(row(run_.run).last_n, 3u);
}

TEST_P(StoreCalls, USE_8_BookingsMustAddUpToTheCostOfTheirMessage) {
  ASSERT_TRUE(open("c1"));
  ASSERT_TRUE(open("c2"));
  std::vector<CallEnd> const ends{call_end("c1", Money{1}), call_end("c2", Money{2})};

  for (std::int64_t const cost : {9, 11}) {
    EXPECT_EQ(refusal(append({costing("m1", Money{cost})}, ends,
                             {booking("c1", "m1", Money{4}), booking("c2", "m1", Money{6})})),
              Errc::invalid);
  }
  EXPECT_EQ(refusal(append({costing("m1", Money{10})}, ends)), Errc::invalid);
  EXPECT_EQ(refusal(append({costing("m1", Money{INT64_MIN})}, ends,
                           {booking("c1", "m1", Money{INT64_MAX}), booking("c2", "m1", Money{1})})),
            Errc::invalid);

  EXPECT_TRUE(append({costing("m1", Money{10})}, ends,
                     {booking("c1", "m1", Money{4}), booking("c2", "m1", Money{6})}));
}

TEST_P(StoreCalls, USE_8_NumbersThatCannotBeAreInvalid) {
  ASSERT_TRUE(open("c1"));
  for (auto const member : {&TokenCounts::input, &TokenCounts::output, &TokenCounts::total,
                            &TokenCounts::cached, &TokenCounts::cache_hit, &TokenCounts::cache_miss,
                            &TokenCounts::cache_write, &TokenCounts::reasoning}) {
    auto end = call_end("c1", Money{1});
    end.tokens.*member = -1;
    EXPECT_EQ(refusal(append({}, {end})), Errc::invalid);
  }
  auto negative = call_end("c1", Money{-1});
  EXPECT_EQ(refusal(append({}, {negative})), Errc::invalid);
  auto garbled = call_end("c1", Money{1});
  garbled.cost.price = "{";
  EXPECT_EQ(refusal(append({}, {garbled})), Errc::invalid);

  EXPECT_EQ(state("c1"), "open:1000");
}

TEST_P(StoreCalls, USE_8_LargestAmountAndCountComeBackAsTheyWere) {
  ASSERT_TRUE(open("c1", Money{INT64_MAX}));
  auto end = call_end("c1", Money{INT64_MAX});
  end.tokens.input = INT64_MAX;
  end.cost.direct = Money{INT64_MAX};
  ASSERT_TRUE(append({}, {end}));

  auto const left = unbooked();

  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left[0].tokens.input, INT64_MAX);
  EXPECT_EQ(left[0].cost.catalog, Money{INT64_MAX});
  EXPECT_EQ(left[0].cost.direct, Money{INT64_MAX});
}

TEST_P(StoreCalls, USE_9_NextWriterEndsAndBooksWhatACrashLeftOpen) {
  ASSERT_TRUE(open("c1"));
  auto const next = claim(run_.run, kNow + 50);
  auto const left = unbooked();
  ASSERT_EQ(left.size(), 1u);

  auto request = append_request(run_.run, next.epoch, batch(3, 3), {costing("m1", left[0].cost_estimate)});
  request.call_ends = {call_end("c1", left[0].cost_estimate, CallStatus::interrupted)};
  request.bookings = {booking("c1", "m1", left[0].cost_estimate)};
  ASSERT_TRUE(run_async(store().append(request)));

  EXPECT_EQ(state("c1"), "interrupted:500");
  EXPECT_TRUE(unbooked().empty());
}

TEST_P(StoreCalls, USE_9_EndOfTheRunInterruptsWhatIsStillOpenAtItsEstimate) {
  auto const other = admit(admission("r2", "t2"));
  ASSERT_TRUE(open(new_call("foreign", other)));
  ASSERT_TRUE(open("c1", Money{900}));
  ASSERT_TRUE(open("c2"));
  auto request = end_request(run_.run, run_.epoch, batch(3, 3), RunStatus::failed);
  request.append.call_ends = {call_end("c2", Money{3})};

  ASSERT_TRUE(run_async(store().end(request)));

  EXPECT_EQ(state("c1"), "interrupted:450");
  EXPECT_EQ(state("c2"), "completed:3");
  EXPECT_EQ(state("foreign"), "open:1000");
  auto const left = unbooked();
  ASSERT_EQ(left.size(), 2u);
  EXPECT_EQ(left[0].tokens, (TokenCounts{70, 0, 70, 0, 0, 0, 0, 0, false}));
  EXPECT_EQ(left[0].cost.catalog, Money{450});
  EXPECT_EQ(cell("SELECT ended_at FROM model_calls WHERE id = 'c1'"), std::to_string(kNow + 20));
}

TEST_P(StoreCalls, USE_8_LedgerOutlivesItsThread) {
  ASSERT_TRUE(open("c1"));
  auto const request = end_with_call("c1");
  ASSERT_TRUE(run_async(store().end(request)));

  ASSERT_EQ(run_async(store().delete_thread(UserId{"ann"}, ThreadId{"t1"})).value(), DeleteOutcome::deleted);
  purge_all();

  EXPECT_EQ(sql("SELECT owner_id, thread_ref, run_ref, run_id, message_id FROM model_calls"),
            (TextRows{{"ann", "t1", "r1", "null", "m1"}}));
  EXPECT_EQ(state("c1"), "completed:10");
}

// --- What the database itself refuses ---

TEST_P(StoreCalls, DB_2_BookedCallIsFrozen) {
  ASSERT_TRUE(open("c1"));
  ASSERT_TRUE(
      append({costing("m1", Money{10})}, {call_end("c1", Money{11})}, {booking("c1", "m1", Money{10})}));

  for (auto const* const change : {"cost = cost + 1",
                                   "cost_source = 'provider'",
                                   "message_id = NULL, cost_source = NULL",
                                   "message_id = 'm2'",
                                   "input_tokens = 1",
                                   "output_tokens = 1",
                                   "cached_tokens = 1",
                                   "reasoning_tokens = 1",
                                   "price = '{}'",
                                   "catalog_cost = 0",
                                   "direct_cost = 0",
                                   "usage_complete = usage_complete",
                                   "status = 'failed'",
                                   "ended_at = 1",
                                   "owner_id = 'bob'",
                                   "thread_ref = 't2'",
                                   "model = 'x'",
                                   "started_at = 1",
                                   "reserve = 0",
                                   "currency = 'USD'"}) {
    EXPECT_TRUE(sql_refused(std::string{"UPDATE model_calls SET "} + change)) << change;
  }
  EXPECT_EQ(state("c1"), "completed:10");
}

TEST_P(StoreCalls, DB_2_CallEndsOnce) {
  ASSERT_TRUE(open("c1"));
  EXPECT_TRUE(sql_refused("UPDATE model_calls SET ended_at = 1")) << "an open call has no end";
  EXPECT_TRUE(sql_refused("UPDATE model_calls SET status = 'failed'")) << "an ended call has an end";
  EXPECT_TRUE(sql_refused("UPDATE model_calls SET status = 'lost', ended_at = 1"));
  EXPECT_TRUE(sql_refused("UPDATE model_calls SET cost = 0")) << "an open call counts its reserve";
  EXPECT_TRUE(sql_refused("UPDATE model_calls SET message_id = 'm', cost_source = 'provider'"));
  end_call("c1", Money{10});

  EXPECT_TRUE(sql_refused("UPDATE model_calls SET status = 'open', ended_at = NULL"));
  EXPECT_TRUE(sql_refused("UPDATE model_calls SET status = 'failed'"));
  EXPECT_TRUE(sql_refused("UPDATE model_calls SET input_tokens = 0"));
  EXPECT_TRUE(sql_refused("UPDATE model_calls SET message_id = 'm'")) << "without the source of its cost";
}

TEST_P(StoreCalls, DB_2_CallCarriesTheCurrencyOfItsThreadAndStaysWithItsRun) {
  auto const other = admit(admission("r2", "t2"));
  auto const insert = [&](std::string const& id, std::string const& run, std::string const& currency) {
    return "INSERT INTO model_calls(id, owner_id, thread_ref, run_ref, run_id, epoch, stage, attempt, "
           "provider, "
           "model, started_at, input_estimate, cost_estimate, reserve, cost, currency) VALUES ('" +
           id + "', 'ann', 't1', 'r1', " + run + ", 1, 's', 1, 'p', 'm', 1, 0, 0, 0, 0, '" + currency + "')";
  };
  auto const run = std::to_string(run_.run.value);

  EXPECT_TRUE(sql_refused(insert("c1", run, "USD")));
  EXPECT_TRUE(sql_refused(insert("c1", "NULL", "CNY")));
  EXPECT_FALSE(sql_refused(insert("c1", run, "CNY")));
  EXPECT_TRUE(sql_refused(insert("c1", run, "CNY"))) << "the id is taken";
  EXPECT_TRUE(sql_refused("UPDATE model_calls SET run_id = " + std::to_string(other.run.value)));
}

INSTANTIATE_TEST_SUITE_P(Engines, StoreCalls, testing::Values(sqlite_engine(), postgres_engine()),
                         engine_name);

}  // namespace
}  // namespace runnel::store

#include <random>
#include <set>

#include "runnel/store/testing/ledger_contract.h"

// The sums that are kept along with the ledger (USE-8, USE-9), and what a user stores (HTTP-9).
namespace runnel::store {
namespace {

class StoreTotals : public LedgerContract {
 protected:
  [[nodiscard]] bool is_sqlite() const { return GetParam().name == "Sqlite"; }

  // How many rows only one of the two queries returns.
  std::string differences(std::string const& a, std::string const& b) {
    auto const except = [](std::string const& one, std::string const& other) {
      return "(SELECT count(*) FROM (SELECT * FROM (" + one + ") o EXCEPT SELECT * FROM (" + other +
             ") p) q)";
    };
    return cell("SELECT " + except(a, b) + " + " + except(b, a));
  }

  // Compares each sum with the rows that it adds up.
  void expect_sums() {
    std::string const cost = is_sqlite() ? "cost_high * 4294967296 + cost_low" : "cost";
    std::string const spent = is_sqlite() ? "spent_high * 4294967296 + spent_low" : "spent";
    std::string const complete = is_sqlite() ? "1 - usage_complete" : "(NOT usage_complete)::int";
    for (auto const& thread : {std::string{"''"}, std::string{"thread_ref"}}) {
      EXPECT_EQ(
          differences("SELECT owner_id, thread_ref, day, model, calls, incomplete_calls, input_tokens, "
                      "output_tokens, cached_tokens, reasoning_tokens, " +
                          cost + " FROM usage_totals WHERE thread_ref " + (thread == "''" ? "= ''" : "<> ''"),
                      "SELECT owner_id, " + thread + ", started_at / 86400000, model, count(*), sum(" +
                          complete +
                          "), sum(input_tokens), sum(output_tokens), sum(cached_tokens), "
                          "sum(reasoning_tokens), sum(cost) FROM model_calls WHERE status <> 'open' "
                          "GROUP BY owner_id, " +
                          (thread == "''" ? "" : "thread_ref, ") + "started_at / 86400000, model"),
          "0")
          << thread;
    }
    EXPECT_EQ(differences("SELECT owner_id, thread_ref, day, " + cost + " FROM spent_totals",
                          "SELECT owner_id, '', -1, sum(cost) FROM model_calls GROUP BY owner_id UNION ALL "
                          "SELECT owner_id, '', started_at / 86400000, sum(cost) FROM model_calls "
                          "GROUP BY owner_id, started_at / 86400000 UNION ALL "
                          "SELECT owner_id, thread_ref, -1, sum(cost) FROM model_calls "
                          "GROUP BY owner_id, thread_ref"),
              "0");
    EXPECT_EQ(differences("SELECT id, " + spent + " FROM runs",
                          "SELECT r.id, coalesce(sum(c.cost), 0) FROM runs r LEFT JOIN model_calls c "
                          "ON c.run_id = r.id GROUP BY r.id"),
              "0");
  }

  // What ann's ended runs store, counted row by row. `stored` is the sum that is kept of it.
  std::string stored_rows() {
    auto const bytes = [this](std::string const& column) {
      return is_sqlite() ? "length(CAST(" + column + " AS BLOB))" : "octet_length(" + column + "::text)";
    };
    std::string const ended = "IN (SELECT id FROM runs WHERE owner_id = 'ann' AND ended_at IS NOT NULL)";
    return cell("SELECT coalesce((SELECT sum(" + bytes("body") + ") FROM log WHERE run_id " + ended +
                "), 0) + coalesce((SELECT sum(" + bytes("body") + ") FROM checkpoints WHERE run_id " + ended +
                "), 0) + coalesce((SELECT sum(" + bytes("input") + ") FROM run_inputs WHERE run_id " + ended +
                "), 0) + coalesce((SELECT sum(" + bytes("content") + " + " + bytes("metadata") +
                ") FROM agent_chat_messages WHERE run_id " + ended + "), 0)");
  }
  std::string stored() {
    return cell("SELECT coalesce((SELECT bytes FROM storage_totals WHERE owner_id = 'ann'), 0)");
  }
  AdmitRequest within(std::string run, std::string thread, std::int64_t bytes) {
    auto request = admission(std::move(run), std::move(thread));
    request.max_stored_bytes = bytes;
    return request;
  }
};

struct Life {
  Admission run;
  std::uint64_t next_n = 3;
  std::set<std::string> open;
  std::set<std::string> ended;
};

TEST_P(StoreTotals, USE_8_SumsEqualTheirRowsWhateverHappensToTheCalls) {
  std::mt19937_64 random{11};
  std::vector<Life> lives(1);
  lives[0].run = run_;
  for (auto const* const name : {"2", "3", "4"}) {
    auto const thread = std::string{"t"} + name;
    lives.emplace_back().run =
        admit(admission(std::string{"r"} + name, thread, name[0] == '4' ? "bob" : "ann"));
  }
  for (int step = 0; step < 400; ++step) {
    auto& life = lives[random() % lives.size()];
    auto const id = "c" + std::to_string(step);
    auto const kind = random() % 4;
    if (kind <= 1 || life.open.empty()) {
      auto call = new_call(id, life.run, Money{static_cast<std::int64_t>(random() >> (20 + random() % 40))});
      call.model = "m" + std::to_string(random() % 3);
      call.started_at = kNow + static_cast<std::int64_t>(random() % 5) * 43'200'000;
      ASSERT_TRUE(open(call));
      life.open.insert(id);
      continue;
    }
    auto request = append_request(life.run.run, life.run.epoch, batch(life.next_n, life.next_n));
    auto const ending = *life.open.begin();
    Money const cost{static_cast<std::int64_t>(random() >> (20 + random() % 40))};
    if (kind == 2 || life.ended.empty()) {
      request.call_ends = {call_end(ending, cost)};
      request.call_ends[0].tokens.complete = random() % 2 == 0;
      life.open.erase(ending);
      life.ended.insert(ending);
    } else {
      auto message = answer("m-" + id);
      message.cost = cost;
      auto const booked = *life.ended.begin();
      request.messages = {message};
      request.bookings = {booking(booked, message.id.text, cost)};
      life.ended.erase(booked);
    }
    ASSERT_TRUE(run_async(store().append(request)));
    ++life.next_n;
  }
  expect_sums();

  for (auto& life : lives) {
    end(life.run.run, life.run.epoch, batch(life.next_n, life.next_n));
  }
  expect_sums();
  ASSERT_EQ(run_async(store().delete_thread(kAnn, kThread)).value(), DeleteOutcome::deleted);
  purge_all();
  expect_sums();
}

TEST_P(StoreTotals, USE_9_RefusedCallLeavesNoSum) {
  auto call = new_call("c1", run_, Money{100});
  call.budgets.user = Money{99};
  EXPECT_EQ(refusal(open(call)), Errc::over_budget);

  EXPECT_EQ(cell("SELECT count(*) FROM spent_totals"), "0");
}

TEST_P(StoreTotals, HTTP_9_StorageIsCountedWhenARunHasEndedAndGivenBackWithItsRows) {
  auto request = append_request(run_.run, run_.epoch, batch(3, 3, std::string(1000, 'x')), {answer("m1")});
  request.checkpoints = {Checkpoint{1, "worker", "turn", R"({"a":"ü"})"}};
  ASSERT_TRUE(run_async(store().append(request)));
  EXPECT_EQ(stored(), "0");
  auto last = end_request(run_.run, run_.epoch, batch(4, 4));
  last.append.messages = {answer("m2"), audit("a1")};
  last.append.checkpoints = {Checkpoint{2, "worker", "turn", R"({"b":1})"}};
  ASSERT_TRUE(run_async(store().end(last)));
  EXPECT_EQ(stored(), stored_rows());
  EXPECT_GT(std::stoi(stored()), 1000);

  auto const second = admit(admission("r2"));
  auto const queued = admit(admission("r3", OnBusy::enqueue));
  DiscardRequest discard;
  discard.run = queued.run;
  discard.now = kNow + 1;
  discard.facts = batch(1, 2);
  ASSERT_TRUE(run_async(store().discard(discard)));
  auto const promoted = admit(admission("r4", OnBusy::enqueue));
  end(second.run, second.epoch, batch(3, 3));
  auto const claimed = claim(promoted.run);
  end(promoted.run, claimed.epoch, batch(3, 3));
  EXPECT_EQ(stored(), stored_rows());

  ASSERT_EQ(run_async(store().expire_logs(kNow + 1'000'000, 10)).value(), 4u);
  purge_all();
  EXPECT_EQ(stored(), stored_rows());
  EXPECT_LT(std::stoi(stored()), 1000);
  ASSERT_EQ(run_async(store().delete_thread(kAnn, kThread)).value(), DeleteOutcome::deleted);
  auto const again = admit(admission("r1"));
  purge_all();
  EXPECT_EQ(stored(), "0");
  end(again.run, again.epoch, batch(3, 3));
  EXPECT_EQ(stored(), stored_rows());
}

TEST_P(StoreTotals, HTTP_9_RunIsNotAdmittedWhereTheStorageIsFullAndNothingChanges) {
  end(run_.run, run_.epoch, batch(3, 3));
  auto const bytes = std::stoll(stored());

  auto const refused = admit(within("r2", "t2", bytes));
  EXPECT_EQ(refused.outcome, Admission::Outcome::over_quota);
  EXPECT_EQ(refused.stored_bytes, bytes);
  EXPECT_EQ(cell("SELECT count(*) FROM runs"), "1");
  EXPECT_EQ(cell("SELECT count(*) FROM agent_chat_sessions"), "1");
  EXPECT_EQ(admit(within("r1", "t1", bytes)).outcome, Admission::Outcome::existing);

  EXPECT_EQ(admit(within("r2", "t2", bytes + 1)).outcome, Admission::Outcome::running);
  EXPECT_EQ(admit(within("r3", "t3", 0)).outcome, Admission::Outcome::running) << "0 is no limit";
}

INSTANTIATE_TEST_SUITE_P(Engines, StoreTotals, testing::Values(sqlite_engine(), postgres_engine()),
                         engine_name);

}  // namespace
}  // namespace runnel::store

#include "runnel/runtime/service.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>
#include <gtest/gtest.h>

#include <thread>

#include "runnel/base/log.h"
#include "runnel/core/fact_json.h"
#include "runnel/model/offline.h"
#include "runnel/store/sqlite_store.h"
#include "runnel/store/sqlite_under_test.h"

namespace runnel::runtime {
namespace {

namespace asio = boost::asio;
using store::RunStatus;

void encode_nothing(Dialect, RunNames const&, Record const&, std::string&) {}

std::unique_ptr<store::Store> open(std::string const& path) {
  store::SqliteOptions options;
  options.path = path;
  return std::move(store::open_sqlite(std::move(options)).value());
}

model::Registry offline(std::chrono::milliseconds delay, std::size_t words) {
  std::vector<std::unique_ptr<model::Provider>> providers;
  providers.push_back(std::make_unique<model::OfflineProvider>(model::OfflineOptions{delay, words}));
  return model::Registry{std::move(providers)};
}

// Says what it is told to, byte for byte.
class RawProvider final : public model::Provider {
 public:
  explicit RawProvider(std::string text) : text_{std::move(text)} {}
  [[nodiscard]] std::vector<std::string> models() const override { return {"raw"}; }
  std::unique_ptr<model::Call> call(model::CallRequest /*request*/) override {
    return std::make_unique<RawCall>(text_);
  }

 private:
  class RawCall final : public model::Call {
   public:
    explicit RawCall(std::string text) {
      events_.emplace_back(model::TextPiece{std::move(text)});
      events_.emplace_back(model::CallFinished{});
    }
    asio::awaitable<Result<std::vector<model::CallEvent>>> next(
        std::shared_ptr<base::Cancel> /*cancel*/) override {
      co_return std::move(events_);
    }

   private:
    std::vector<model::CallEvent> events_;
  };

  std::string text_;
};

model::Registry raw(std::string text) {
  std::vector<std::unique_ptr<model::Provider>> providers;
  providers.push_back(std::make_unique<RawProvider>(std::move(text)));
  return model::Registry{std::move(providers)};
}

constexpr std::int64_t kRunsPerUser = 3;

// One life of a server on a database: stopping it leaves the database for the next.
class Life {
 public:
  Life(std::string const& path, std::chrono::milliseconds word_delay, std::size_t words = 0)
      : Life{path, offline(word_delay, words)} {}
  Life(std::string const& path, model::Registry models) : store_{open(path)}, models_{std::move(models)} {
    ServiceOptions options;
    options.delta_flush = std::chrono::milliseconds{5};
    options.max_recoveries = 2;
    options.runs_per_user = kRunsPerUser;
    options.metrics = RunMetrics{metrics_};
    service_.emplace(Parts{cores_, clock_, *store_, hub_, flows_, models_}, options);
    cores_.start();
    service_->recover(wait(service_->unfinished()).value());
  }
  ~Life() {
    service_->shut_down(std::chrono::milliseconds{0});
    store_.reset();
    cores_.stop();
  }

  template <class T>
  T wait(asio::awaitable<T> work) {
    return asio::co_spawn(cores_.at(0), std::move(work), asio::use_future).get();
  }

  std::variant<Started, Refusal> start(std::string run, std::string text,
                                       store::OnBusy on_busy = store::OnBusy::reject) {
    RunInput input;
    input.thread = ThreadId{"t"};
    input.run = RunId{std::move(run)};
    input.text = std::move(text);
    input.on_busy = on_busy;
    return wait(service_->start(UserId{"ann"}, std::move(input), "q1")).value();
  }

  // The value of a series, once it is `wanted`, or else after a while.
  std::string series(std::string const& name, std::string const& wanted) {
    std::string value;
    for (int i = 0; i < 2000 && value != wanted; ++i) {
      auto const text = metrics_.text();
      auto const at = text.find("\n" + name + " ") + name.size() + 2;
      value = text.substr(at, text.find('\n', at) - at);
      if (value != wanted) std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
    return value;
  }

  store::RunRow row(std::string const& run) {
    return wait(store_->find_run(UserId{"ann"}, ThreadId{"t"}, RunId{run})).value().value();
  }

  // The run once it has ended.
  store::RunRow ended(std::string const& run) {
    for (int i = 0; i < 2000; ++i) {
      auto found = row(run);
      if (store::is_ended(found.status)) return found;
      std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
    ADD_FAILURE() << run << " does not end";
    return row(run);
  }

  // Waits until so many facts are durable.
  void reach(std::string const& run, std::uint64_t n) {
    for (int i = 0; i < 2000 && row(run).last_n < n; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }

  // The names of the durable facts, deltas left out.
  std::vector<std::string> facts(std::string const& run) {
    std::vector<std::string> names;
    std::uint64_t next = 1;
    for (auto const& log : wait(store_->read_log(row(run).key, 0, 1 << 20)).value()) {
      for (auto const& record : parse_log_body(log.body, log.epoch).value()) {
        EXPECT_EQ(record.position.n, next++);
        if (!is_delta(record.fact)) names.emplace_back(fact_name(record.fact));
      }
    }
    return names;
  }

  std::vector<store::MessageRow> history() {
    return wait(store_->history(UserId{"ann"}, ThreadId{"t"}, std::nullopt, 100)).value().messages;
  }

  void sweep() { service_->start_sweeping(); }
  void put_ticket(store::NewTicket ticket) { wait(store_->put_ticket(std::move(ticket))).value(); }

  CancelReply cancel(std::string const& run) {
    return wait(service_->cancel(UserId{"ann"}, ThreadId{"t"}, RunId{run})).value();
  }

 private:
  base::Metrics metrics_;
  base::Cores cores_{2};
  base::SystemClock clock_;
  std::unique_ptr<store::Store> store_;
  stream::Hub hub_{cores_, &encode_nothing, 64};
  flow::Catalog flows_ = flow::Catalog::built_in();
  model::Registry models_;
  std::optional<Service> service_;
};

using Names = std::vector<std::string>;
using std::chrono::milliseconds;

class ServiceTest : public testing::Test {
 protected:
  store::TemporaryFolder folder;
  std::string path = folder.file("runnel.db");
};

TEST_F(ServiceTest, RUN_1_RunGoesFromItsInputToItsEnd) {
  Life life{path, milliseconds{0}};

  auto const started = std::get<Started>(life.start("r1", "hello"));

  EXPECT_TRUE(started.created);
  EXPECT_EQ(life.ended("r1").status, RunStatus::completed);
  EXPECT_EQ(life.facts("r1"), (Names{"run_started", "step_started", "reply_started", "text_started",
                                     "answer_completed", "step_finished", "run_finished"}));
  auto const history = life.history();
  ASSERT_EQ(history.size(), 2U);
  EXPECT_EQ(history[0].content, "hello");
  EXPECT_EQ(history[1].seq, 2);
}

TEST_F(ServiceTest, RUN_2_SameRunIdSameRun) {
  Life life{path, milliseconds{0}};
  life.start("r1", "hello");
  EXPECT_FALSE(std::get<Started>(life.start("r1", "hello")).created);
  EXPECT_EQ(std::get<Refusal>(life.start("r1", "other")).code, "RUN_ID_CONFLICT");
  life.ended("r1");
}

TEST_F(ServiceTest, RUN_3_EnqueuedRunsComeInOrder) {
  Life life{path, milliseconds{1}};
  life.start("r1", "one");
  EXPECT_EQ(std::get<Refusal>(life.start("r2", "two")).code, "THREAD_BUSY");
  life.start("r2", "two", store::OnBusy::enqueue);
  life.start("r3", "three", store::OnBusy::enqueue);

  life.ended("r3");

  Names asked;
  for (auto const& message : life.history()) {
    if (message.role == store::Role::user) asked.push_back(message.content);
  }
  EXPECT_EQ(asked, (Names{"one", "two", "three"}));
}

TEST_F(ServiceTest, HTTP_6_RunBeyondTheUsersLimitIsRefusedUntilOneHasEnded) {
  Life life{path, milliseconds{10}, 3000};
  life.start("r1", "one");
  life.start("r2", "two", store::OnBusy::enqueue);
  life.start("r3", "three", store::OnBusy::enqueue);

  auto const refusal = std::get<Refusal>(life.start("r4", "four", store::OnBusy::interrupt));

  EXPECT_EQ(refusal.kind, Refusal::Kind::too_many);
  EXPECT_EQ(refusal.code, "TOO_MANY_RUNS");
  EXPECT_EQ(refusal.details, R"({"limit":3})");
  EXPECT_FALSE(life.row("r1").cancel_requested);
  EXPECT_FALSE(std::get<Started>(life.start("r3", "three")).created) << "RUN-2 has no limit";
  life.cancel("r3");
  EXPECT_TRUE(std::get<Started>(life.start("r4", "four", store::OnBusy::enqueue)).created);
}

TEST_F(ServiceTest, HTTP_4_SweepTakesTicketsWhoseTimeIsOver) {
  Life life{path, milliseconds{0}};
  store::NewTicket old;
  old.hash = "old";
  old.owner = UserId{"ann"};
  old.kind = store::TicketKind::websocket;
  old.expires_at = 1;
  life.put_ticket(old);

  life.sweep();

  auto const left = [this] { return store::sqlite_rows(path, "SELECT hash FROM tickets").value().size(); };
  for (int i = 0; i < 2000 && left() > 0; ++i)
    std::this_thread::sleep_for(milliseconds{1});
  EXPECT_EQ(left(), 0u);
}

TEST_F(ServiceTest, RUN_3_InterruptCancelsTheActiveRunFirst) {
  Life life{path, milliseconds{1}, 5000};
  life.start("r1", "one");
  life.start("r2", "two", store::OnBusy::interrupt);

  EXPECT_EQ(life.ended("r1").status, RunStatus::canceled);
  life.reach("r2", 5);
  life.cancel("r2");
  life.ended("r2");
}

TEST_F(ServiceTest, RUN_3_RollbackTakesTheRunOutOfHistory) {
  Life life{path, milliseconds{1}, 5000};
  life.start("r1", "one");
  life.reach("r1", 10);
  life.start("r2", "two", store::OnBusy::rollback);
  life.ended("r1");
  life.reach("r2", 3);

  auto const history = life.history();
  ASSERT_FALSE(history.empty());
  EXPECT_EQ(history[0].content, "two");
  EXPECT_GT(history[0].seq, 1);
  life.cancel("r2");
  life.ended("r2");
}

TEST_F(ServiceTest, RUN_4_CancelClosesWhatIsOpenAndKeepsThePartialText) {
  Life life{path, milliseconds{1}, 5000};
  life.start("r1", "hello");
  life.reach("r1", 20);

  EXPECT_FALSE(life.cancel("r1").had_ended);

  EXPECT_EQ(life.ended("r1").status, RunStatus::canceled);
  EXPECT_EQ(life.facts("r1"), (Names{"run_started", "step_started", "reply_started", "text_started",
                                     "text_ended", "step_finished", "run_canceled"}));
  EXPECT_TRUE(life.cancel("r1").had_ended);
  ASSERT_EQ(life.history().size(), 2U);
  EXPECT_FALSE(life.history()[1].content.empty());
}

TEST_F(ServiceTest, RUN_4_QueuedRunIsCancelledWithoutEverBeginning) {
  Life life{path, milliseconds{1}, 5000};
  life.start("r1", "one");
  life.start("r2", "two", store::OnBusy::enqueue);

  EXPECT_EQ(life.cancel("r2").status, RunStatus::canceled);

  EXPECT_EQ(life.facts("r2"), (Names{"run_started", "run_canceled"}));
  life.cancel("r1");
  life.ended("r1");
}

TEST_F(ServiceTest, HTTP_7_RunsAreCounted) {
  Life life{path, milliseconds{1}, 5000};
  life.start("r1", "one");
  life.start("r2", "two", store::OnBusy::enqueue);
  life.start("r3", "three", store::OnBusy::enqueue);
  EXPECT_EQ(life.series("runnel_runs_active", "1"), "1");
  EXPECT_EQ(life.series("runnel_runs_queued", "2"), "2");
  EXPECT_EQ(life.series("runnel_runs_admitted_total", "3"), "3");
  EXPECT_EQ(life.series("runnel_run_admission_seconds_count", "3"), "3");

  life.cancel("r3");
  EXPECT_EQ(life.series("runnel_runs_queued", "1"), "1");
  life.reach("r1", 20);
  life.cancel("r1");
  life.reach("r2", 20);
  EXPECT_EQ(life.series("runnel_runs_queued", "0"), "0");
  life.cancel("r2");
  life.ended("r2");

  EXPECT_EQ(life.series("runnel_runs_ended_total{status=\"canceled\"}", "3"), "3");
  EXPECT_EQ(life.series("runnel_runs_ended_total{status=\"completed\"}", "0"), "0");
  EXPECT_EQ(life.series("runnel_runs_active", "0"), "0");
}

TEST_F(ServiceTest, HTTP_7_EveryFactIsCountedOnce) {
  Life life{path, milliseconds{0}};
  life.start("r1", "hello");
  auto const last_n = life.ended("r1").last_n;

  auto const others = std::to_string(life.facts("r1").size());
  auto const deltas = std::to_string(last_n - life.facts("r1").size());
  EXPECT_EQ(life.series("runnel_facts_appended_total{kind=\"fact\"}", others), others);
  EXPECT_EQ(life.series("runnel_facts_appended_total{kind=\"delta\"}", deltas), deltas);
}

TEST_F(ServiceTest, HTTP_7_RunsThatAnEarlierProcessLeftAreTakenOver) {
  {
    Life life{path, milliseconds{1}, 5000};
    life.start("r1", "one");
    life.start("r2", "two", store::OnBusy::enqueue);
    life.reach("r1", 10);
  }
  Life life{path, milliseconds{1}, 200};
  life.ended("r2");

  EXPECT_EQ(life.series("runnel_runs_taken_over_total", "1"), "1");
  EXPECT_EQ(life.series("runnel_runs_ended_total{status=\"completed\"}", "2"), "2");
  life.start("r3", "three");
  life.start("r4", "four", store::OnBusy::enqueue);
  EXPECT_EQ(life.series("runnel_runs_queued", "1"), "1");
  life.cancel("r4");
  life.cancel("r3");
  life.ended("r3");
}

TEST_F(ServiceTest, CFG_4_StartAndEndOfARunAreLoggedWithoutItsWords) {
  testing::internal::CaptureStderr();
  base::start_logging({base::LogLevel::info, base::LogFormat::human});
  {
    Life life{path, milliseconds{0}};
    life.start("r1", "canary");
    life.ended("r1");
    life.series("runnel_runs_active", "0");
  }
  base::stop_logging();

  auto const text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("run started run_id=r1 thread_id=t request_id=q1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("run ended run_id=r1 thread_id=t request_id=q1 status=completed ms="),
            std::string::npos);
  EXPECT_EQ(text.find("canary"), std::string::npos);
}

TEST_F(ServiceTest, RUN_12_NextProcessGoesOnUnderANewEpochAndMessage) {
  std::int64_t first_epoch = 0;
  {
    Life life{path, milliseconds{1}, 5000};
    life.start("r1", "hello");
    life.reach("r1", 20);
    first_epoch = life.row("r1").epoch;
  }

  Life life{path, milliseconds{0}};

  auto const row = life.ended("r1");
  EXPECT_EQ(row.status, RunStatus::completed);
  EXPECT_GT(row.epoch, first_epoch);
  EXPECT_EQ(life.facts("r1"),
            (Names{"run_started", "step_started", "reply_started", "text_started", "writer_changed",
                   "text_ended", "text_started", "answer_completed", "step_finished", "run_finished"}));
  EXPECT_EQ(life.history().size(), 3U);
}

TEST_F(ServiceTest, RUN_12_RunThatIsInterruptedTooOftenEnds) {
  for (int i = 0; i < 4; ++i) {
    Life life{path, milliseconds{1}, 5000};
    if (i == 0) life.start("r1", "hello");
    life.reach("r1", life.row("r1").last_n + 10);
  }

  Life life{path, milliseconds{0}};

  EXPECT_EQ(life.ended("r1").error_code, "RUN_INTERRUPTED");
  EXPECT_EQ(life.facts("r1").back(), "run_failed");
}

TEST_F(ServiceTest, RUN_12_StopDuringRecoveryEndsNoRun) {
  {
    Life life{path, milliseconds{1}, 5000};
    life.start("r1", "hello");
    life.reach("r1", 20);
  }
  { Life life{path, milliseconds{1}, 5000}; }

  Life life{path, milliseconds{0}};

  EXPECT_EQ(life.ended("r1").status, RunStatus::completed);
}

TEST_F(ServiceTest, WhateverAModelSaysCanBeKept) {
  Life life{path, raw(std::string{"a\0b", 3} + "\xff")};

  life.start("r1", "hello");

  EXPECT_EQ(life.ended("r1").status, RunStatus::completed);
  EXPECT_EQ(life.history()[1].content, "a\uFFFDb\uFFFD");
}

TEST_F(ServiceTest, RUN_12_QueuedRunsOutliveTheProcess) {
  {
    Life life{path, milliseconds{1}, 5000};
    life.start("r1", "one");
    life.start("r2", "two", store::OnBusy::enqueue);
  }

  Life life{path, milliseconds{0}};

  EXPECT_EQ(life.ended("r2").status, RunStatus::completed);
}

}  // namespace
}  // namespace runnel::runtime

// The real SQLite store in a file below $RUNNEL_BENCH_DIR, or else below the working directory, so that this
// measures a disk and not a file system in memory. An append counts when it is durable, that is, synced.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bench/micro/sample_run.h"
#include "runnel/core/fact/fact_json.h"
#include "runnel/store/sqlite/db.h"
#include "runnel/store/sqlite/store.h"
#include "tests/support/run_async.h"

namespace runnel::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;
using Latencies = std::vector<double>;  // Microseconds.

// One append is what comes in 100 ms (runtime.delta_flush_ms) at 5 ms per token.
constexpr std::size_t kFactsInAppend = 20;
constexpr std::size_t kPageBytes = std::size_t{256} * 1024;  // How much a reader requests at once.

// A new folder, deleted with the object.
class Folder {
 public:
  Folder() {
    auto const* const wanted = std::getenv("RUNNEL_BENCH_DIR");
    std::string pattern = std::string{wanted != nullptr ? wanted : "."} + "/runnel-bench-XXXXXX";
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error{"cannot make a folder like " + pattern};
    path_ = pattern;
  }
  Folder(Folder const&) = delete;
  Folder& operator=(Folder const&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] std::string file() const { return path_ + "/runnel.db"; }

 private:
  std::string path_;
};

store::LogBatch make_batch(std::vector<Record> const& records, std::size_t first, std::size_t last) {
  store::LogBatch batch;
  batch.first_n = records[first].position.n;
  batch.last_n = records[last - 1].position.n;
  batch.body = log_body(records, first, last);
  return batch;
}

store::LogBatch deltas(std::uint64_t first_n, std::size_t count) {
  std::vector<Record> records;
  for (std::size_t i = 0; i < count; ++i)
    records.push_back(sample_delta(first_n + i));
  return make_batch(records, 0, count);
}

store::AdmitRequest make_admission(std::string const& name) {
  store::AdmitRequest request;
  request.owner = UserId{"bench"};
  request.thread = ThreadId{"thread-" + name};
  request.run = RunId{"run-" + name};
  request.input_hash = "hash";
  request.input = R"({"text":"hello"})";
  request.agui_version = "1.0";
  request.country = "CN";
  request.node = NodeId{"bench"};
  request.now = kEpoch;
  request.begin.user_message.id = MessageId{"input-" + name};
  request.begin.user_message.role = store::Role::user;
  request.begin.user_message.content = "hello";
  request.begin.user_message.metadata = R"({"type":"user_input"})";
  request.begin.title = "hello";
  request.begin.facts = make_batch(sample_run(0), 0, 2);
  return request;
}

// A run to which facts are appended.
struct Writing {
  RunKey run;
  Epoch epoch = 0;
  std::uint64_t last_n = 2;
};

store::AppendRequest next_append(Writing& writing) {
  store::AppendRequest request;
  request.run = writing.run;
  request.epoch = writing.epoch;
  request.facts = deltas(writing.last_n + 1, kFactsInAppend);
  request.now = kEpoch;
  writing.last_n += kFactsInAppend;
  return request;
}

class OpenStore {
 public:
  OpenStore() {
    store::SqliteOptions options;
    options.path = folder_.file();
    store_ = store::open_sqlite(std::move(options)).value();
  }
  store::Store& operator*() { return *store_; }

  [[nodiscard]] std::string file() const { return folder_.file(); }

  Writing begin_run(std::string const& name) {
    auto const admission = run_async(store_->admit(make_admission(name))).value();
    return {admission.run, admission.epoch};
  }

 private:
  Folder folder_;
  std::unique_ptr<store::Store> store_;
};

boost::asio::awaitable<Latencies> append_each(store::Store* store,
                                              std::vector<store::AppendRequest> requests) {
  Latencies latencies;
  for (auto& request : requests) {
    auto const began = SteadyClock::now();
    auto const written = co_await store->append(std::move(request));
    written.value();
    latencies.push_back(std::chrono::duration<double, std::micro>(SteadyClock::now() - began).count());
  }
  co_return latencies;
}

void report(benchmark::State& state, Latencies latencies) {
  std::sort(latencies.begin(), latencies.end());
  auto const at = [&](std::size_t percent) { return latencies[(latencies.size() - 1) * percent / 100]; };
  state.counters["p50_us"] = at(50);
  state.counters["p99_us"] = at(99);
  state.SetItemsProcessed(static_cast<std::int64_t>(latencies.size()));
}

// The given number of runs append at once; each makes its next append when the last one is durable. One item
// is one append of 20 facts; p50 and p99 are the time of one append, from the call until it is durable.
void log_append(benchmark::State& state) {
  constexpr std::size_t kAppendsInARow = 16;
  OpenStore store;
  std::vector<Writing> runs;
  for (std::int64_t i = 0; i < state.range(0); ++i)
    runs.push_back(store.begin_run(std::to_string(i)));

  Latencies latencies;
  for ([[maybe_unused]] auto _ : state) {
    state.PauseTiming();
    std::vector<boost::asio::awaitable<Latencies>> work;
    for (auto& run : runs) {
      std::vector<store::AppendRequest> requests;
      for (std::size_t i = 0; i < kAppendsInARow; ++i)
        requests.push_back(next_append(run));
      work.push_back(append_each(&*store, std::move(requests)));
    }
    state.ResumeTiming();
    for (auto const& some : run_all_async(std::move(work)))
      latencies.insert(latencies.end(), some.begin(), some.end());
  }
  report(state, std::move(latencies));
}
BENCHMARK(log_append)->Arg(1)->Arg(64)->UseRealTime()->MeasureProcessCPUTime()->Unit(benchmark::kMillisecond);

// Adds this many ended calls of the run's owner.
void fill_ledger(OpenStore const& store, RunKey run, std::int64_t calls) {
  store::sqlite::Db db{{store.file(), store::sqlite::Access::read_write_create, {}}};
  db.run(
      "WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?2) "
      "INSERT INTO model_calls(id, owner_id, thread_ref, run_ref, run_id, epoch, stage, attempt, provider, "
      "model, "
      "started_at, input_estimate, cost_estimate, reserve, cost, currency) "
      "SELECT 'old-' || n, 'bench', 'thread-' || (n % 1000), 'run', ?1, 1, 's', 1, 'p', 'm', ?3, 0, 0, 1000, "
      "1000, 'CNY' "
      "FROM numbers",
      run.value, calls, kEpoch);
  db.run("UPDATE model_calls SET status = 'completed', ended_at = started_at");
}

// Opens a call durably, with a limit for every budget, after the given number of calls of the same user. The
// cost must not depend on that number.
void open_call_within_budgets(benchmark::State& state) {
  OpenStore store;
  auto const run = store.begin_run("budget");
  fill_ledger(store, run.run, state.range(0));
  std::int64_t number = 0;
  for ([[maybe_unused]] auto _ : state) {
    store::NewCall call;
    call.id = "call-" + std::to_string(++number);
    call.run = run.run;
    call.epoch = run.epoch;
    call.stage = "answer";
    call.provider = call.model = "m";
    call.started_at = kEpoch;
    call.reserve = Money{1};
    Money const plenty{std::int64_t{1} << 60U};
    call.budgets = store::Budgets{plenty, plenty, plenty, plenty, kEpoch / 86'400'000 * 86'400'000};
    run_async((*store).open_call(std::move(call))).value();
  }
}
BENCHMARK(open_call_within_budgets)->Arg(10)->Arg(300'000)->UseRealTime()->Unit(benchmark::kMicrosecond);

// A run with 1,000 facts, with `facts_in_row` facts per row.
RunKey write_log(OpenStore& store, std::size_t facts_in_row) {
  auto const run = store.begin_run("read");
  constexpr std::uint64_t kFacts = 1000;
  std::vector<store::AppendRequest> requests;
  for (std::uint64_t n = 3; n <= kFacts;) {
    auto const count = std::min<std::uint64_t>(facts_in_row, kFacts + 1 - n);
    store::AppendRequest request;
    request.run = run.run;
    request.epoch = run.epoch;
    request.facts = deltas(n, count);
    request.now = kEpoch;
    requests.push_back(std::move(request));
    n += count;
  }
  run_async(append_each(&*store, std::move(requests)));
  return run.run;
}

boost::asio::awaitable<std::vector<store::LogRow>> read_all(store::Store* store, RunKey run) {
  std::vector<store::LogRow> all;
  for (std::uint64_t after = 0;;) {
    auto rows = co_await store->read_log(run, after, kPageBytes);
    if (rows.value().empty()) co_return all;
    after = rows->back().last_n;
    std::move(rows->begin(), rows->end(), std::back_inserter(all));
  }
}

// Reads 1,000 facts as rows, from the call on an io_context to the last page. Each page, also the empty one
// at the end, goes to a reader thread and back. The file is in the page cache.
void log_read_1000_facts(benchmark::State& state) {
  OpenStore store;
  auto const run = write_log(store, static_cast<std::size_t>(state.range(0)));
  std::size_t rows = 0;
  for ([[maybe_unused]] auto _ : state) {
    auto const all = run_async(read_all(&*store, run));
    rows = all.size();
    if (all.back().last_n != 1000) state.SkipWithError("facts are missing");
  }
  state.counters["rows"] = static_cast<double>(rows);
  state.SetItemsProcessed(state.iterations() * 1000);
}
BENCHMARK(log_read_1000_facts)
    ->Arg(5)
    ->Arg(20)
    ->Arg(1000)
    ->UseRealTime()
    ->MeasureProcessCPUTime()
    ->Unit(benchmark::kMicrosecond);

// What a reader of the store does next: parses rows to records.
void log_parse_1000_facts(benchmark::State& state) {
  auto const records = sample_run(1000);
  auto const body = log_body(records, 4, 1004);
  for ([[maybe_unused]] auto _ : state) {
    auto const parsed = parse_log_body(body, kEpoch);
    if (!parsed || parsed->size() != 1000) state.SkipWithError("facts are missing");
    benchmark::DoNotOptimize(parsed->data());
  }
  state.SetItemsProcessed(state.iterations() * 1000);
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(body.size()));
}
BENCHMARK(log_parse_1000_facts)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace runnel::bench

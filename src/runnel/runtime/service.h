#pragma once

#include <boost/asio/awaitable.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <variant>

#include "runnel/base/clock.h"
#include "runnel/base/cores.h"
#include "runnel/base/task_group.h"
#include "runnel/flow/flow.h"
#include "runnel/model/registry.h"
#include "runnel/runtime/executor.h"
#include "runnel/runtime/live_runs.h"
#include "runnel/runtime/run_input.h"
#include "runnel/runtime/run_metrics.h"
#include "runnel/runtime/run_writer.h"
#include "runnel/store/store.h"
#include "runnel/stream/hub.h"

namespace runnel::runtime {

struct ServiceOptions {
  NodeId node;
  std::chrono::milliseconds delta_flush{100};
  // A run that lost its writer to more crashes than this since its last checkpoint ends as RUN_INTERRUPTED.
  std::int64_t max_recoveries = 3;
  std::int64_t runs_per_user = 0;           // That have not ended (HTTP-6); 0: no limit.
  std::int64_t storage_bytes_per_user = 0;  // Of ended runs (HTTP-9); 0: no limit.
  std::chrono::seconds event_retention{7 * 24 *
                                       3600};  // After a run's end; then its events are gone (SSE-4).
  std::chrono::seconds sweep_interval{60};
  std::size_t context_bytes = std::size_t{1} << 20U;  // Of a thread's messages that a stage is told (HTTP-9).
  store::Budgets budgets;
  RunMetrics metrics{};
};

// What a run is made of. All outlive the service.
struct Parts {
  base::Cores& cores;
  base::Clock const& clock;
  store::Store& store;
  stream::Hub& hub;
  flow::Catalog const& flows;
  model::Registry const& models;
  model::PriceBook const& prices;
  Toolbox const& tools;
};

struct Started {
  RunKey key;
  ThreadId thread;
  RunId run;
  store::RunStatus status = store::RunStatus::pending;
  bool created = false;  // False: the run was there already (RUN-2).
};

struct CancelReply {
  bool found = false;
  bool had_ended = false;
  store::RunStatus status = store::RunStatus::running;
};

// The life of all runs of this process: admission, execution, cancel, recovery, the end. Any core may call.
class Service {
 public:
  Service(Parts parts, ServiceOptions options);
  Service(Service const&) = delete;
  Service& operator=(Service const&) = delete;

  // Admits the run durably and lets it go. The same run id and input again gives the same run. `request_id`
  // is for the log.
  store::Async<std::variant<Started, Refusal>> start(UserId owner, RunInput input,
                                                     std::string request_id = {});

  // Durably asks the run to end; its terminal follows within a moment. A queued run ends at once.
  store::Async<CancelReply> cancel(UserId owner, ThreadId thread, RunId run);

  // What an earlier process left (RUN-12), without inputs. Asked before the server listens, so that no run of
  // this process is among it.
  store::Async<std::vector<store::RunRow>> unfinished();

  // Takes these runs over and goes on with them.
  void recover(std::vector<store::RunRow> runs);

  // Deletes expired logs and tickets, and what is left of deleted threads, from time to time until shutdown.
  void start_sweeping();

  // There is something to delete: sweeps now instead of at the next interval.
  void sweep_soon();

  [[nodiscard]] bool draining() const { return draining_.load(std::memory_order_relaxed); }

  // No new runs from now on; lets the running ones end for `limit`, then leaves the rest to the next process.
  // Blocks; not from a core. Afterwards no task of the service is left.
  void shut_down(std::chrono::milliseconds limit);

 private:
  struct Claimed {
    store::RunRow row;
    RunInput input;
    Epoch epoch = 0;
    std::vector<Record> begun;      // Already durable, to be shown.
    std::string request_id;         // Empty: no request waits for its beginning.
    bool cancel_requested = false;  // Before it was claimed; what comes later is told to `live_`.
  };

  // What a run's log says.
  struct Replayed {
    FactOrder order;
    Position last;
    std::int64_t last_ms = 0;  // When the last fact came, by the wall clock.
  };

  // A run whose admission may have been committed, though the store could not say so.
  struct LostAdmit {
    UserId owner;
    ThreadId thread;
    RunId run;
    std::string first_facts;  // As they would be in its log: with their times, no other request has the same.
    // Since when the store answers that it has no such run; none: it has not answered yet.
    std::optional<std::chrono::steady_clock::time_point> missing_since;
  };

  // What the calls of a run that ends by force have used.
  struct LastAccounts {
    CommitRows rows;
    std::vector<Usage> usage;
  };

  [[nodiscard]] std::optional<Refusal> complete(RunInput& input) const;
  [[nodiscard]] Terms make_terms(UserId owner, ThreadId thread) const {
    return {&parts_.prices, &parts_.models, options_.budgets, std::move(owner), std::move(thread)};
  }
  [[nodiscard]] Job make_job(store::RunRow const& row, RunInput input) const;
  [[nodiscard]] RunParts run_parts() const;
  [[nodiscard]] store::Begin make_begin(RunId const& run, RunInput const& input,
                                        std::vector<Record>& records) const;
  LiveRun go_live(RunKey run, RunNames names);
  void let_go(Claimed claimed);
  boost::asio::awaitable<void> run_begun(Claimed claimed, LiveRun live);
  // `failures`: how often a writer of this process has failed the run.
  void spawn_taken_over(store::RunRow row, std::int64_t failures);
  boost::asio::awaitable<void> run_taken_over(store::RunRow row, LiveRun live, std::int64_t failures);
  boost::asio::awaitable<Result<void>> take_over(store::RunRow row, LiveRun live, std::int64_t failures);
  boost::asio::awaitable<void> leave(store::RunRow row, std::string request_id,
                                     std::shared_ptr<RunWriter> writer, Result<store::Ended> result,
                                     std::int64_t failures);
  boost::asio::awaitable<void> force_end(store::RunRow row, LiveRun live);
  // `sent`: what the store was asked before, and may have done without being able to say so.
  boost::asio::awaitable<Result<void>> try_force_end(store::RunRow row, LiveRun live, bool with_accounts,
                                                     std::optional<store::ForceEndRequest>* sent);
  boost::asio::awaitable<Result<LastAccounts>> last_accounts(RunKey run, Epoch epoch,
                                                             std::shared_ptr<base::Cancel> cancel);
  [[nodiscard]] store::ForceEndRequest make_force_end(RunKey run, store::LogEnd const& seen,
                                                      LastAccounts accounts, RunEnd const& end) const;
  void spawn_pending(RunKey run);
  boost::asio::awaitable<void> begin_pending(RunKey run);
  // `row` has the key; it gets the rest as soon as that is known.
  boost::asio::awaitable<Result<void>> try_begin_pending(store::RunRow* row);
  boost::asio::awaitable<Result<Replayed>> replay(RunKey run);
  // A run that has a writer in the store's eyes and none here is found, and goes on (RUN-12).
  void look_for(store::AdmitRequest const& request);
  boost::asio::awaitable<void> find_lost_admits();
  // True: there is nothing more to look for.
  boost::asio::awaitable<Result<bool>> find_lost_admit(LostAdmit* lost);
  [[nodiscard]] store::DiscardRequest make_discard(RunKey run) const;
  [[nodiscard]] store::ClaimRequest make_claim(RunKey run) const;
  store::Async<CancelReply> discard(store::RunRow row);
  boost::asio::awaitable<void> sweep();
  boost::asio::awaitable<bool> nap();
  std::shared_ptr<RunWriter> make_writer(LiveRun const& live, RunWriter::Start start);
  void ended(store::RunRow const& run, std::string const& request_id, RunWriter const& writer,
             Result<store::Ended> result, std::int64_t failures);
  void tell_end(store::RunRow const& run, std::string const& request_id, RunEnd const& end) const;
  void left_queue(store::RunRow const& run) const;
  boost::asio::awaitable<void> take_over_again(store::RunRow row, std::int64_t failures);

  Parts const parts_;
  ServiceOptions const options_;
  std::atomic<bool> draining_{false};
  std::atomic<bool> stopping_{false};  // The running ones have had their time.
  std::int64_t const created_at_;
  LiveRuns live_;
  std::shared_ptr<base::Cancel> const sweep_cancel_ = std::make_shared<base::Cancel>();
  // Both are used on core 0 only. `nap_` is there while the sweep sleeps; requesting it ends the sleep.
  std::shared_ptr<base::Cancel> nap_;
  bool sweep_again_ = false;  // Something came to be deleted while the sweep was at work.
  // Likewise core 0's: what `find_lost_admits` looks for, and whether it does.
  std::deque<LostAdmit> lost_admits_;
  bool looking_ = false;
  base::TaskGroup tasks_;
};

}  // namespace runnel::runtime

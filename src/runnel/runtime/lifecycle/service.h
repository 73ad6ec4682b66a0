#pragma once

#include <boost/asio/awaitable.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <variant>

#include "runnel/base/clock.h"
#include "runnel/base/cores.h"
#include "runnel/base/task_group.h"
#include "runnel/flow/flow.h"
#include "runnel/model/registry.h"
#include "runnel/runtime/execution/executor.h"
#include "runnel/runtime/lifecycle/closings.h"
#include "runnel/runtime/lifecycle/live_runs.h"
#include "runnel/runtime/lifecycle/run_input.h"
#include "runnel/runtime/lifecycle/run_metrics.h"
#include "runnel/runtime/writing/run_writer.h"
#include "runnel/store/approvals.h"
#include "runnel/store/client_calls.h"
#include "runnel/store/store.h"
#include "runnel/stream/hub.h"

namespace runnel::runtime {

struct ServiceOptions {
  NodeId node;
  std::chrono::milliseconds delta_flush{100};
  // A run that lost its writer to more crashes than this since its last checkpoint ends with RUN_INTERRUPTED.
  std::int64_t max_recoveries = 3;
  std::int64_t runs_per_user = 0;           // Runs that have not ended (HTTP-6); 0 means no limit.
  std::int64_t storage_bytes_per_user = 0;  // Of ended runs (HTTP-9); 0 means no limit.
  // How long a run's events are kept after its end (SSE-4).
  std::chrono::seconds event_retention{7 * 24 * 3600};
  std::chrono::seconds sweep_interval{60};
  // How long a run waits for an approval, and how often overdue ones are looked for.
  std::chrono::milliseconds approval_time{std::chrono::hours{24}};
  std::chrono::milliseconds approval_interval{std::chrono::seconds{1}};
  std::size_t context_bytes = std::size_t{1} << 20U;    // The most that a stage reads of its thread (HTTP-9).
  std::size_t message_bytes = std::size_t{256} * 1024;  // The most of a reply's answers together (HTTP-9).
  store::Budgets budgets;
  RunMetrics metrics{};
};

// The parts that runs are made of. They outlive the service.
struct ServiceParts {
  base::Cores& cores;
  base::Clock const& clock;
  store::Store& store;
  stream::Hub& hub;
  flow::Catalog const& flows;
  model::Registry const& models;
  model::PriceBook const& prices;
  tools::Toolbox const& tools;
  std::string_view profile_query;  // See store::AdmitRequest. A literal.
  // For approvals and for calls of clients' tools; null only if no tool call needs either.
  store::Sql* sql = nullptr;
  Memories* memories = nullptr;  // For prompts; null if nothing is ever noted.
};

struct Started {
  RunKey key;
  ThreadId thread;
  RunId run;
  store::RunStatus status = store::RunStatus::pending;
  bool created = false;  // False if the run existed already (RUN-2).
};

struct CancelReply {
  bool found = false;
  bool had_ended = false;
  store::RunStatus status = store::RunStatus::running;
};

// The life of all runs of this process: admission, execution, cancellation, recovery and end. May be called
// on any core.
class Service {
 public:
  Service(ServiceParts parts, ServiceOptions options);
  Service(Service const&) = delete;
  Service& operator=(Service const&) = delete;

  // Admits the run durably, and starts or queues it. The same run id and input again give the same run. An
  // input that answers an interrupt lets the run go on that waits for it; then `Started` has the id under
  // which it goes on. `request_id` is for the log.
  store::Async<std::variant<Started, Refusal>> start(UserId owner, RunInput input,
                                                     std::string request_id = {});

  // Durably asks the run to end; its terminal fact follows soon. A queued run ends at once.
  store::Async<CancelReply> cancel(UserId owner, ThreadId thread, RunId run);

  // Answers the question whether a tool call may run. If the answer is accepted, the run goes on (RUN-13).
  store::Async<store::AnswerOutcome> answer(store::ApprovalAnswer answer);

  // The questions that wait for this user, at most `limit`.
  store::Async<std::vector<store::WaitingApproval>> approvals_of(UserId owner, std::size_t limit);

  // The runs that an earlier process left (RUN-12), without their inputs. Called before the server listens,
  // so that no run of this process is among them.
  store::Async<std::vector<store::RunRow>> unfinished();

  // Takes over these runs and continues them.
  void recover(std::vector<store::RunRow> runs);

  // Deletes expired logs and the rows of deleted threads at regular intervals, until shutdown.
  void start_sweeping();

  // Sweeps now instead of at the next interval, because there is something to delete.
  void sweep_soon();

  [[nodiscard]] bool draining() const { return draining_.load(std::memory_order_relaxed); }

  // Refuses new runs, waits up to `limit` until the running ones have ended, and leaves the rest to the next
  // process. Blocks, so it must not be called on a core. Afterwards no task of the service is left.
  void shut_down(std::chrono::milliseconds limit);

 private:
  // The first facts of a run, written by the intent that claims it.
  struct Beginning {
    LogTail tail;
    std::vector<Record> records;  // To be shown.
  };

  struct Claimed {
    store::RunRow row;
    RunInput input;
    Beginning beginning;
    std::string request_id;         // Empty if no request waits for the run to start.
    bool cancel_requested = false;  // Before the claim; a later cancel goes to `live_`.
  };

  // The state of a run according to its log.
  struct Replayed {
    FactOrder order;
    Position last;
    std::int64_t last_ms = 0;  // The wall-clock time of the last fact.
  };

  // A run whose admission may have been committed although the store's answer was lost.
  struct LostAdmit {
    UserId owner;
    ThreadId thread;
    RunId run;
    // As they would be in its log. They contain their times, so no other request has the same.
    std::string first_facts;
    // Since when the store answers that it has no such run; empty if it has not answered yet.
    std::optional<std::chrono::steady_clock::time_point> missing_since;
  };

  // What the calls of a run that is ended by force have used.
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
  [[nodiscard]] store::Begin make_begin(RunId const& run, RunInput const& input, Closings const& closings,
                                        Beginning& beginning) const;
  // Checks the client's tools, and drops them if the flow takes none.
  [[nodiscard]] std::optional<Refusal> take_client_tools(RunInput& input) const;
  // Admits the run with the calls closed that are open on its thread. Sets what depends on them.
  store::Async<std::variant<store::Admission, Refusal>> admit(store::AdmitRequest* request, RunInput* input,
                                                              Beginning* beginning);
  // What the calls that are open on the thread are closed with. Refuses a reply that answers none of them.
  store::Async<std::variant<Closings, Refusal>> closings_for(UserId owner, ThreadId thread, RunInput* input);
  // The same for a run that was admitted: answers to calls that are not open any more are dropped.
  store::Async<Closings> closings_of_queued(store::RunRow const* row, RunInput const* input);
  store::Async<std::variant<MatchedAnswers, Refusal>> match_answers(
      UserId owner, ThreadId thread, std::vector<store::OpenClientCall> const* open,
      ClientToolsInput const* input);
  // Completes the job of a run whose input is a reply. Returns why the run must fail, if it must.
  store::Async<std::optional<CallTrouble>> complete_reply(Job* job, ThreadId thread,
                                                          std::shared_ptr<base::Cancel> cancel);
  // Gives the run its place among those that are executed here, and tells the readers of its thread.
  LiveRun go_live(store::RunRow const& run);
  void let_go(Claimed claimed);
  boost::asio::awaitable<void> run_begun(Claimed claimed, LiveRun live);
  // `failures` is how often a writer of this process has failed with the run.
  void spawn_taken_over(store::RunRow row, std::int64_t failures);
  boost::asio::awaitable<void> run_taken_over(store::RunRow row, LiveRun live, std::int64_t failures);
  boost::asio::awaitable<Result<void>> take_over(store::RunRow row, LiveRun live, std::int64_t failures);
  boost::asio::awaitable<void> leave(store::RunRow row, std::string request_id,
                                     std::shared_ptr<RunWriter> writer, Result<store::Ended> result,
                                     std::int64_t failures);
  boost::asio::awaitable<void> force_end(store::RunRow row, LiveRun live);
  // `sent` is the request that was sent before, if any. The store may have carried it out although its answer
  // was lost.
  boost::asio::awaitable<Result<void>> try_force_end(store::RunRow row, LiveRun live, bool with_accounts,
                                                     std::optional<store::ForceEndRequest>* sent);
  boost::asio::awaitable<Result<LastAccounts>> last_accounts(RunKey run, Epoch epoch,
                                                             std::shared_ptr<base::Cancel> cancel);
  [[nodiscard]] store::ForceEndRequest make_force_end(RunKey run, store::LogEnd const& seen,
                                                      LastAccounts accounts, RunEnd const& end) const;
  void spawn_pending(RunKey run);
  boost::asio::awaitable<void> begin_pending(RunKey run);
  // `row` has only the key; the rest is filled in as soon as it is known.
  boost::asio::awaitable<Result<void>> try_begin_pending(store::RunRow* row);
  boost::asio::awaitable<Result<Replayed>> replay(RunKey run);
  // Looks for a run that has a writer according to the store but none in this process, and continues it
  // (RUN-12).
  void look_for(store::AdmitRequest const& request);
  boost::asio::awaitable<void> find_lost_admits();
  // True if there is nothing more to look for.
  boost::asio::awaitable<Result<bool>> find_lost_admit(LostAdmit* lost);
  [[nodiscard]] store::DiscardRequest make_discard(RunKey run) const;
  [[nodiscard]] store::ClaimRequest make_claim(RunKey run) const;
  store::Async<CancelReply> discard(store::RunRow row);
  // AGUI-4. `input` has a `resume`.
  store::Async<std::variant<Started, Refusal>> resume(UserId owner, RunInput input);
  store::Async<std::variant<Started, Refusal>> resumed(ThreadId thread, store::AnswerOutcome outcome);
  store::Async<std::variant<Started, Refusal>> refuse_interrupt(UserId owner, RunInput input);
  // Continues a run that has waited.
  void wake(RunKey run);
  boost::asio::awaitable<void> continue_woken(RunKey run);
  // Continues the run if it waits and is being canceled.
  void wake_if_canceled(RunKey run);
  boost::asio::awaitable<void> try_wake_canceled(RunKey run);
  boost::asio::awaitable<void> watch_approvals();
  boost::asio::awaitable<Result<void>> look_for_due(std::set<RunKey>* pending);
  boost::asio::awaitable<void> sweep();
  boost::asio::awaitable<bool> nap();
  std::shared_ptr<RunWriter> make_writer(LiveRun const& live, RunWriter::Start start);
  void ended(store::RunRow const& run, std::string const& request_id, RunWriter const& writer,
             Result<store::Ended> result, std::int64_t failures);
  void tell_end(store::RunRow const& run, std::string const& request_id, RunEnd const& end) const;
  void left_queue(store::RunRow const& run) const;
  boost::asio::awaitable<void> take_over_again(store::RunRow row, std::int64_t failures);

  ServiceParts const parts_;
  ServiceOptions const options_;
  std::atomic<bool> draining_{false};
  std::atomic<bool> stopping_{false};  // The time that running runs have to end is over.
  std::int64_t const created_at_;
  LiveRuns live_;
  std::shared_ptr<base::Cancel> const sweep_cancel_ = std::make_shared<base::Cancel>();
  // Both are used on core 0 only. `nap_` is set while the sweep sleeps; requesting it ends the sleep.
  std::shared_ptr<base::Cancel> nap_;
  bool sweep_again_ = false;  // There is more to delete since the sweep began.
  // Also used on core 0 only: what `find_lost_admits` looks for, and whether it is running.
  std::deque<LostAdmit> lost_admits_;
  bool looking_ = false;
  std::unique_ptr<store::Approvals> const approvals_;  // Both are null if there is no SQL layer.
  std::unique_ptr<store::ClientCalls> const client_calls_;
  base::TaskGroup tasks_;
};

}  // namespace runnel::runtime

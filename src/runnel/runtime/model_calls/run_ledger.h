#pragma once

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runnel/base/cancel.h"
#include "runnel/base/clock.h"
#include "runnel/core/fact/fact.h"
#include "runnel/model/pricing/prices.h"
#include "runnel/model/pricing/usage_summary.h"
#include "runnel/model/provider.h"
#include "runnel/model/registry.h"
#include "runnel/runtime/lifecycle/run_metrics.h"
#include "runnel/runtime/writing/commit.h"
#include "runnel/runtime/writing/message_rows.h"
#include "runnel/store/store.h"

namespace runnel::runtime {

// What a run may spend, and at which prices.
struct Terms {
  model::PriceBook const* prices = nullptr;
  model::Registry const* models = nullptr;
  store::Budgets budgets;  // `day_began` is filled in when a call is made.
  UserId owner{};          // Who pays.
  ThreadId thread{};       // The thread whose budget is used.
};

// The beginning of the UTC day that contains `now`, both in milliseconds. The budget of the day counts from
// it.
std::int64_t day_of(std::int64_t now);

// The most tokens of an answer if there is any budget, because the highest cost of a call must be known
// before it is made. This is generous for an answer. Without a budget the provider's own limit applies.
inline constexpr std::int64_t kOutputUnderBudget = 8192;

// An attempt that is about to be made.
struct Attempt {
  std::string stage;
  std::int64_t number = 1;
  std::string provider;
  std::string model;
  std::string price_name;  // The model's name in the price book.
  bool thinks = false;
  bool may_think = false;  // Even if it does not show its thoughts.
  std::int64_t input_estimate = 0;
  std::int64_t most_input = 0;   // Tokens that the input cannot exceed.
  std::int64_t most_output = 0;  // The same for the output, including thoughts; 0 means no limit.
};

// What an attempt wrote before it ended. Its tokens are estimated from this if the provider has not reported
// them.
struct Said {
  std::string_view text;
  std::string_view reasoning;
  std::optional<std::chrono::milliseconds> first_piece;
  std::int64_t argument_tokens = 0;  // Of its tool calls; an estimate.
  // For a call that an earlier writer made: the wall-clock time of that writer's last fact.
  std::optional<std::int64_t> last_known_ms{};

  [[nodiscard]] std::int64_t tokens() const;
};

// A run's account of its model calls. Each attempt is entered into the ledger before it is made (USE-8), is
// settled when it has ended, and is booked with the others of its stage on the row that they were made for.
// Used on the run's core.
class RunLedger {
 public:
  RunLedger(store::Store& store, base::Clock const& clock, std::shared_ptr<base::Cancel> cancel, Terms terms,
            RunMetrics metrics, RunKey run, Epoch epoch);

  // Enters the attempt and reserves what it may cost. Fails with `over_budget`, or with `not_found` if the
  // model has no price at this time: then the attempt must not be made.
  boost::asio::awaitable<Result<void>> open(Attempt attempt);
  // Notes that the provider is being asked. An attempt that ends before this has used nothing.
  void asked() { open_->asked = true; }
  [[nodiscard]] bool is_open() const { return open_.has_value(); }
  // Why the store refused the last attempt as over budget, in a sentence for the user.
  boost::asio::awaitable<std::string> why_refused();

  // Ends the open attempt and returns what must be written about it.
  Commit finished(model::CallFinished const& finished, Said const& said);
  Commit failed(model::CallFailed const& failed, Said const& said);
  Commit stopped(store::CallStatus status, std::string const& code, Said const& said);

  // Takes over what an earlier writer left unbooked. An attempt that was open is settled as interrupted;
  // `said` is what it wrote.
  boost::asio::awaitable<Result<Commit>> take_over(Said said);

  // Books every unbooked call on the row of this message, which must be written in the same commit, and
  // returns what that row costs. The charge names the model of the last call.
  Charge book(MessageId const& message, CommitRows& rows);
  [[nodiscard]] bool has_unbooked() const { return !unbooked_.empty(); }

  // Books every unbooked call on a new audit row, which is added to `rows` (USE-8).
  void book_on_audit_row(std::string const& stage, std::string text, std::string const& status,
                         CommitRows& rows);

  // Adds what earlier writers have booked.
  void restore(std::vector<Usage> const& booked) { add_booked(booked); }

  // Everything that was booked so far, by model.
  [[nodiscard]] std::vector<Usage> const& booked() const { return booked_; }

 private:
  struct Open {
    Attempt attempt;
    std::string id;
    std::int64_t started_at = 0;
    std::chrono::steady_clock::time_point began;
    bool asked = false;
  };

  struct Unbooked {
    std::string id;
    model::CallRecord record;
  };

  [[nodiscard]] Money spent() const;  // By the run's calls that have ended.
  [[nodiscard]] Result<store::NewCall> make_call(Open const& open) const;
  [[nodiscard]] std::int64_t most_output(model::Provider const* provider) const;
  store::Async<void> enter(store::NewCall call);
  void add_booked(std::vector<Usage> const& usage);
  store::Async<std::vector<store::UnbookedCall>> find_unbooked();
  Commit close(store::CallStatus status, std::string code, model::CallOutcome outcome,
               ReportedUsage const& reported, Said const& said);
  Commit settle(std::string id, std::string const& stage, store::CallEnd end, model::CallRecord record);

  store::Store& store_;
  base::Clock const& clock_;
  std::shared_ptr<base::Cancel> const cancel_;
  Terms const terms_;
  RunMetrics const metrics_;
  RunKey const run_;
  Epoch const epoch_;
  std::optional<Open> open_;
  Money reserve_;  // What the last attempt was to reserve, even if the store refused it.
  std::vector<Unbooked> unbooked_;
  std::vector<Usage> booked_;
  std::string last_provider_;
  std::string last_model_;
};

// The usage that a row shows.
Usage usage_of(Charge const& charge);

}  // namespace runnel::runtime

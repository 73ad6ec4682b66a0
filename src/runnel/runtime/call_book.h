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
#include "runnel/core/fact.h"
#include "runnel/model/prices.h"
#include "runnel/model/provider.h"
#include "runnel/model/registry.h"
#include "runnel/model/usage_summary.h"
#include "runnel/runtime/closing.h"
#include "runnel/runtime/commit_rows.h"
#include "runnel/runtime/run_metrics.h"
#include "runnel/store/store.h"

namespace runnel::runtime {

// What a run may spend, and at which prices.
struct Terms {
  model::PriceBook const* prices = nullptr;
  model::Registry const* models = nullptr;
  store::Budgets budgets;  // `day_began` is filled in when a call is made.
  UserId owner{};          // Who pays,
  ThreadId thread{};       // and where.
};

// The beginning of the UTC day, in milliseconds as `now` is: a budget of the day counts from it.
std::int64_t day_of(std::int64_t now);

// Of an answer where there is any budget: what a call may cost must be known before it is made. Generous for
// an answer; without a budget the provider's own limit holds.
inline constexpr std::int64_t kOutputUnderBudget = 8192;

// An attempt about to be made.
struct Attempt {
  std::string stage;
  std::int64_t number = 1;
  std::string provider;
  std::string model;
  std::string price_name;  // Of the model, in the price book.
  bool thinks = false;
  bool may_think = false;  // Even where its thoughts are not shown.
  std::int64_t input_estimate = 0;
  std::int64_t most_input = 0;   // Tokens that the input cannot exceed,
  std::int64_t most_output = 0;  // and the output, thoughts included; 0: it is not limited.
};

// What an attempt showed before it ended: its tokens are estimated from it where the provider has not told.
struct Said {
  std::string_view text;
  std::string_view reasoning;
  std::optional<std::chrono::milliseconds> first_piece;
  std::int64_t argument_tokens = 0;  // Of its tool calls, by estimate.
  // Of a call that an earlier writer has made: when the last that is known of it was written, by the wall
  // clock.
  std::optional<std::int64_t> last_known_ms{};

  [[nodiscard]] std::int64_t tokens() const;
};

// A run's account of its model calls: each attempt stands in the ledger before it is made (USE-8), is settled
// when it has ended, and is booked, with the others of its stage, on the row that they were made for. On the
// run's core.
class CallBook {
 public:
  CallBook(store::Store& store, base::Clock const& clock, std::shared_ptr<base::Cancel> cancel, Terms terms,
           RunMetrics metrics, RunKey run, Epoch epoch);

  // Enters the attempt and holds what it may cost. `over_budget`, or `not_found` where the model has no price
  // now: it must not be made.
  boost::asio::awaitable<Result<void>> open(Attempt attempt);
  // The provider is asked from now on: before, a call that ends has used nothing.
  void asked() { open_->asked = true; }
  [[nodiscard]] bool is_open() const { return open_.has_value(); }
  // Why the store refused the last attempt as over budget, in a sentence for the user.
  boost::asio::awaitable<std::string> why_refused();

  // The open attempt has ended: what is to be written of it.
  Closing finished(model::CallFinished const& finished, Said const& said);
  Closing failed(model::CallFailed const& failed, Said const& said);
  Closing stopped(store::CallStatus status, std::string const& code, Said const& said);

  // Takes over what an earlier writer left unbooked; an attempt that was open is interrupted, after `said`.
  boost::asio::awaitable<Result<Closing>> take_over(Said said);

  // Books all that is not booked on the row of this message, which is written in the same commit. The
  // summary is what that row costs.
  model::UsageSummary book(MessageId const& message, CommitRows& rows);
  [[nodiscard]] bool has_unbooked() const { return !unbooked_.empty(); }

  // Of the last call that is not booked, or else was booked last: what a message names as its model.
  [[nodiscard]] std::string const& last_provider() const { return last_provider_; }
  [[nodiscard]] std::string const& last_model() const { return last_model_; }

  // What earlier writers have booked.
  void restore(std::vector<Usage> const& booked) { remember(booked); }

  // All that was booked so far, by model.
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
  store::Async<std::vector<store::UnbookedCall>> find_unbooked();
  Closing close(store::CallStatus status, std::string code, model::CallOutcome outcome,
                ReportedUsage const& reported, Said const& said);
  Closing settle(std::string id, std::string const& stage, store::CallEnd end, model::CallRecord record);
  void remember(std::vector<Usage> const& usage);

  store::Store& store_;
  base::Clock const& clock_;
  std::shared_ptr<base::Cancel> const cancel_;
  Terms const terms_;
  RunMetrics const metrics_;
  RunKey const run_;
  Epoch const epoch_;
  std::optional<Open> open_;
  Money reserve_;  // What the last attempt was to hold, even where the store refused it.
  std::vector<Unbooked> unbooked_;
  std::vector<Usage> booked_;
  std::string last_provider_;
  std::string last_model_;
};

// The usage of a row, from the summary of its calls.
Usage usage_of(model::UsageSummary const& summary, std::string provider, std::string model);

}  // namespace runnel::runtime

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runnel/core/call_usage.h"
#include "runnel/core/ids.h"

// The ledger of model calls (USE-8): a row an attempt, and what is spent of the budgets (USE-9).
namespace runnel::store {

// How much may be spent; none: without limit. What is spent is the cost of all calls that have ended and what
// the open ones hold. A thread that was deleted and made again has spent what it had.
struct Budgets {
  std::optional<Money> run;
  std::optional<Money> thread;
  std::optional<Money> user;
  std::optional<Money> day;  // Of the user, since `day_began`, the beginning of a UTC day.
  std::int64_t day_began = 0;

  [[nodiscard]] bool any() const { return run || thread || user || day; }
};

// An attempt that is about to be made.
struct NewCall {
  std::string id;  // Minted by the runtime, unique everywhere.
  RunKey run;
  Epoch epoch = 0;
  std::string stage;
  std::int64_t attempt = 1;
  std::string provider;
  std::string model;
  std::int64_t started_at = 0;
  std::int64_t input_estimate = 0;  // Tokens, and what they alone would cost:
  Money cost_estimate;              // what it counts where its end is never learnt.
  Money reserve;                    // Held against the budgets until it ends: input and maximum output.
  Budgets budgets;
};

enum class CallStatus { open, completed, failed, canceled, interrupted };
char const* to_string(CallStatus status);
std::optional<CallStatus> parse_call_status(std::string const& text);

// How an attempt ended; written with the facts that tell of it.
struct CallEnd {
  std::string id;
  CallStatus status = CallStatus::completed;
  std::string error_code;  // Empty: none.
  std::int64_t ended_at = 0;
  std::int64_t latency_ms = 0;
  std::optional<std::int64_t> first_token_ms;
  CallTokens tokens;
  CallCost cost;
  Money provisional;  // What it counts until it is booked.
};

// The message row on which an attempt is booked, for good. A message's cost is the sum of its calls.
struct CallBooking {
  std::string id;
  MessageId message;
  Money cost;
  CostSource source = CostSource::catalog_fallback;
};

// An attempt that is not booked yet: after a crash the next writer ends and books it.
struct UnbookedCall {
  std::string id;
  CallStatus status = CallStatus::open;
  std::string stage;
  std::string provider;
  std::string model;
  std::int64_t started_at = 0;
  std::int64_t input_estimate = 0;
  Money cost_estimate;
  CallTokens tokens;  // Zero and not complete while open.
  CallCost cost;
};

enum class UsageGroup { none, thread, model, day };

struct UsageQuery {
  UserId owner;
  std::optional<ThreadId> thread;
  std::optional<std::int64_t> from;  // By a call's start, inclusive.
  std::optional<std::int64_t> to;    // Exclusive.
  UsageGroup group = UsageGroup::none;
  std::string after;        // Only groups whose key is greater; empty: from the first.
  std::size_t limit = 200;  // Groups in the page.
};

// Of calls that have ended. A count of tokens that does not fit is given as the largest that does.
struct UsageRow {
  std::string key;  // A thread's id, a model's name, a UTC day as 2026-11-16; empty without groups.
  std::int64_t calls = 0;
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
  std::int64_t cached_tokens = 0;
  std::int64_t reasoning_tokens = 0;
  std::string cost;  // Decimal text: a sum may be more than a Money holds.
  bool complete = true;
};

struct UsageReport {
  std::string currency = "CNY";  // The only one that a thread can have (DB-2).
  UsageRow total;
  std::vector<UsageRow> rows;  // By key. Empty without groups.
  bool more = false;           // There are groups behind the last one here.
};

}  // namespace runnel::store

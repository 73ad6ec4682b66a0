#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runnel/core/ids.h"
#include "runnel/core/money/call_usage.h"

// The ledger of model calls (USE-8) with one row per attempt, and the budgets that limit what is spent
// (USE-9).
namespace runnel::store {

// How much may be spent. An empty member means no limit. The amount spent is the cost of all ended calls plus
// the reserves of the open ones. If a thread is deleted and created again, what was spent before still
// counts.
struct Budgets {
  std::optional<Money> run;
  std::optional<Money> thread;
  std::optional<Money> user;
  std::optional<Money> day;  // The user's, since `day_began`, which is the start of a UTC day.
  std::int64_t day_began = 0;

  [[nodiscard]] bool any() const { return run || thread || user || day; }
};

// An attempt that is about to be made.
struct NewCall {
  std::string id;  // Created by the runtime; unique everywhere.
  RunKey run;
  Epoch epoch = 0;
  std::string stage;
  std::int64_t attempt = 1;
  std::string provider;
  std::string model;
  std::int64_t started_at = 0;
  std::int64_t input_estimate = 0;  // In tokens.
  Money cost_estimate;  // What those tokens cost. The call counts for this if its end is never known.
  Money reserve;        // Held against the budgets until the call ends: input plus maximum output.
  Budgets budgets;
};

enum class CallStatus { open, completed, failed, canceled, interrupted };
char const* to_string(CallStatus status);
std::optional<CallStatus> parse_call_status(std::string const& text);

// How an attempt ended. It is written together with the facts that report it.
struct CallEnd {
  std::string id;
  CallStatus status = CallStatus::completed;
  std::string error_code;  // Empty if there is none.
  std::int64_t ended_at = 0;
  std::int64_t latency_ms = 0;
  std::optional<std::int64_t> first_token_ms;
  TokenCounts tokens;
  CallCost cost;
  Money provisional;  // The amount that the call counts for until it is booked.
};

// The message row on which an attempt is booked. A booking is final. A message's cost is the sum of the costs
// of its calls.
struct CallBooking {
  std::string id;
  MessageId message;
  Money cost;
  CostSource source = CostSource::catalog_fallback;
};

// An attempt that is not booked yet. After a crash, the next writer ends and books it.
struct UnbookedCall {
  std::string id;
  CallStatus status = CallStatus::open;
  std::string stage;
  std::string provider;
  std::string model;
  std::int64_t started_at = 0;
  std::int64_t input_estimate = 0;
  Money cost_estimate;
  TokenCounts tokens;  // Zero, and not complete, while the call is open.
  CallCost cost;
};

enum class UsageGroup { none, thread, model, day };

struct UsageQuery {
  UserId owner;
  std::optional<ThreadId> thread;
  std::optional<std::int64_t> from;  // Compared with a call's start; inclusive.
  std::optional<std::int64_t> to;    // Exclusive.
  UsageGroup group = UsageGroup::none;
  std::string after;        // Only groups whose key is greater than this. Empty for the first page.
  std::size_t limit = 200;  // The most groups in a page.
};

// Sums over calls that have ended. A token count that does not fit is replaced by the largest number that
// does.
struct UsageRow {
  std::string key;  // A thread's id, a model's name or a UTC day such as 2026-11-16. Empty without groups.
  std::int64_t calls = 0;
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
  std::int64_t cached_tokens = 0;
  std::int64_t reasoning_tokens = 0;
  std::string cost;  // Decimal text, because a sum may exceed what a Money can hold.
  bool complete = true;
};

struct UsageReport {
  std::string currency = "CNY";  // The only currency that a thread can have (DB-2).
  UsageRow total;
  std::vector<UsageRow> rows;  // Ordered by key. Empty without groups.
  bool more = false;           // Whether more groups follow the last one here.
};

}  // namespace runnel::store

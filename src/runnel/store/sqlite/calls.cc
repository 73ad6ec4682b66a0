#include "runnel/store/sqlite/calls.h"

#include <algorithm>
#include <string_view>

namespace runnel::store::sqlite {

namespace {

// Each sum is stored, so that it need not be computed from the calls (migrations/sqlite/001_baseline.sql). A
// sum of costs that does not fit into 64 bits would fail or be rounded, so the upper and the lower halves of
// the costs are summed separately: these sums always fit.
constexpr char kSpentByRun[] = "SELECT spent_high, spent_low FROM runs WHERE id = ?1";
constexpr char kSpentByThread[] =
    "SELECT cost_high, cost_low FROM spent_totals WHERE owner_id = ?1 AND thread_ref = ?2 AND day = -1";
constexpr char kSpentByUser[] =
    "SELECT cost_high, cost_low FROM spent_totals WHERE owner_id = ?1 AND thread_ref = '' AND day = -1";
// If the clock was set back, there are sums of later days; they count too.
constexpr char kSpentByDay[] =
    "SELECT sum(cost_high), sum(cost_low) FROM spent_totals "
    "WHERE owner_id = ?1 AND thread_ref = '' AND day >= max(?2 / 86400000, 0)";

constexpr char kEnd[] = R"sql(
UPDATE model_calls
SET status = ?3, error_code = ?4, ended_at = ?5, latency_ms = ?6, first_token_ms = ?7, input_tokens = ?8,
    output_tokens = ?9, total_tokens = ?10, cached_tokens = ?11, cache_hit_tokens = ?12, cache_miss_tokens = ?13,
    cache_write_tokens = ?14, reasoning_tokens = ?15, usage_complete = ?16, direct_cost = ?17,
    direct_observed = ?18, catalog_cost = ?19, price_list = ?20, price = ?21, cost = ?22, message_id = ?23,
    cost_source = ?24
WHERE id = ?1 AND run_id = ?2 AND status = 'open'
  AND (?23 IS NULL OR EXISTS (SELECT 1 FROM agent_chat_messages m WHERE m.run_id = ?2 AND m.message_id = ?23)))sql";

constexpr char kBook[] = R"sql(
UPDATE model_calls SET message_id = ?3, cost = ?4, cost_source = ?5
WHERE id = ?1 AND run_id = ?2 AND status <> 'open' AND message_id IS NULL
  AND EXISTS (SELECT 1 FROM agent_chat_messages m WHERE m.run_id = ?2 AND m.message_id = ?3))sql";

constexpr char kInterrupt[] = R"sql(
UPDATE model_calls
SET status = 'interrupted', ended_at = ?2, input_tokens = input_estimate, total_tokens = input_estimate,
    catalog_cost = cost_estimate, cost = cost_estimate
WHERE run_id = ?1 AND status = 'open')sql";

template <class... Args>
bool has_room(Db& db, std::optional<Money> limit, Money more, std::string_view spent, Args const&... args) {
  if (!limit) return true;
  Query query{db, spent, args...};
  MoneyTotal total;
  if (query.next()) total.add_halves(query.integer(0), query.integer(1));
  total.add(more);
  return !total.exceeds(*limit);
}

template <class Named>
Named const* find_call(std::vector<Named> const& calls, std::string const& id) {
  auto const found =
      std::find_if(calls.begin(), calls.end(), [&](auto const& call) { return call.id == id; });
  return found == calls.end() ? nullptr : &*found;
}

// `booking` is the call's booking if it is booked as it ends, and null if it is booked later.
bool end_call(Db& db, RunKey run, CallEnd const& end, CallBooking const* booking) {
  auto const error = end.error_code.empty() ? std::nullopt : std::optional{end.error_code};
  auto const direct = end.cost.direct ? std::optional{end.cost.direct->pico} : std::nullopt;
  auto const& tokens = end.tokens;
  return db.run(kEnd, end.id, run.value, std::string_view{to_string(end.status)}, error, end.ended_at,
                end.latency_ms, end.first_token_ms, tokens.input, tokens.output, tokens.total, tokens.cached,
                tokens.cache_hit, tokens.cache_miss, tokens.cache_write, tokens.reasoning, tokens.complete,
                direct, end.cost.direct_observed, end.cost.catalog.pico,
                std::string_view{to_string(end.cost.list)}, end.cost.price,
                booking != nullptr ? booking->cost.pico : end.provisional.pico,
                booking != nullptr ? std::optional{booking->message.text} : std::nullopt,
                booking != nullptr ? std::optional<std::string_view>{to_string(booking->source)}
                                   : std::nullopt) == 1;
}

bool book_call(Db& db, RunKey run, CallBooking const& booking) {
  return db.run(kBook, booking.id, run.value, booking.message.text, booking.cost.pico,
                std::string_view{to_string(booking.source)}) == 1;
}

}  // namespace

std::optional<std::string> full_budget(Db& db, Budgets const& budgets, Spender const& spender, Money more) {
  if (spender.run && !has_room(db, budgets.run, more, kSpentByRun, spender.run->value)) return "run";
  if (!has_room(db, budgets.thread, more, kSpentByThread, spender.owner, spender.thread)) return "thread";
  if (!has_room(db, budgets.user, more, kSpentByUser, spender.owner)) return "user";
  if (!has_room(db, budgets.day, more, kSpentByDay, spender.owner, budgets.day_began)) return "day";
  return std::nullopt;
}

Result<void> settle_calls(Db& db, AppendRequest const& request) {
  for (auto const& end : request.call_ends) {
    auto const* const booking = find_call(request.bookings, end.id);
    if (!end_call(db, request.run, end, booking)) {
      return Error{
          Errc::invalid,
          "cannot end call " + end.id + ": it is not open or not this run's" +
              (booking != nullptr ? ", or its message " + booking->message.text + " is not this run's" : "")};
    }
  }
  for (auto const& booking : request.bookings) {
    if (find_call(request.call_ends, booking.id) != nullptr) continue;
    if (!book_call(db, request.run, booking)) {
      return Error{Errc::invalid,
                   "cannot book call " + booking.id + " on message " + booking.message.text +
                       ": the call has not ended or is already booked, or one of the two is not this run's"};
    }
  }
  return {};
}

void interrupt_open_calls(Db& db, RunKey run, std::int64_t now) {
  db.run(kInterrupt, run.value, now);
}

}  // namespace runnel::store::sqlite

#include "runnel/store/postgres/calls.h"

#include <utility>

#include "runnel/core/json/write.h"
#include "runnel/store/postgres/rows.h"

namespace runnel::store::postgres {

namespace {

constexpr char kOpen[] =
    "SELECT runnel_open_call($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12::text::json)";

constexpr char kUnbooked[] = R"sql(
SELECT id, status, stage, provider, model, started_at, input_estimate, (cost_estimate * 1000000000000)::bigint,
       input_tokens, output_tokens, total_tokens, cached_tokens, cache_hit_tokens, cache_miss_tokens,
       cache_write_tokens, reasoning_tokens, usage_complete, (direct_cost * 1000000000000)::bigint, direct_observed,
       (catalog_cost * 1000000000000)::bigint, price_list, price
FROM model_calls WHERE run_id = $1 AND message_id IS NULL ORDER BY row_no)sql";

void append_money(JsonObject& object, char const* key, std::optional<Money> amount) {
  if (amount) {
    object.number(key, amount->pico);
  } else {
    object.null(key);
  }
}

void append_end(std::string& out, CallEnd const& end) {
  JsonObject object{out};
  object.text("id", end.id).text("status", store::to_string(end.status));
  if (!end.error_code.empty()) object.text("error_code", end.error_code);
  object.number("ended_at", end.ended_at).number("latency_ms", end.latency_ms);
  if (end.first_token_ms) object.number("first_token_ms", *end.first_token_ms);
  object.number("input", end.tokens.input)
      .number("output", end.tokens.output)
      .number("total", end.tokens.total)
      .number("cached", end.tokens.cached)
      .number("cache_hit", end.tokens.cache_hit)
      .number("cache_miss", end.tokens.cache_miss)
      .number("cache_write", end.tokens.cache_write)
      .number("reasoning", end.tokens.reasoning)
      .boolean("complete", end.tokens.complete);
  append_money(object, "direct", end.cost.direct);
  object.boolean("direct_observed", end.cost.direct_observed)
      .number("catalog", end.cost.catalog.pico)
      .text("price_list", to_string(end.cost.list))
      .text("price", end.cost.price)
      .number("provisional", end.provisional.pico);
  object.close();
}

void append_booking(std::string& out, CallBooking const& booking) {
  JsonObject object{out};
  object.text("id", booking.id)
      .text("message", booking.message.text)
      .number("cost", booking.cost.pico)
      .text("source", runnel::to_string(booking.source));
  object.close();
}

UnbookedCall to_unbooked_call(Rows const& rows, int i) {
  UnbookedCall call;
  call.id = rows.text(i, 0);
  call.status = parse_call_status(rows.text(i, 1)).value();
  call.stage = rows.text(i, 2);
  call.provider = rows.text(i, 3);
  call.model = rows.text(i, 4);
  call.started_at = rows.integer(i, 5);
  call.input_estimate = rows.integer(i, 6);
  call.cost_estimate = Money{rows.integer(i, 7)};
  call.tokens.input = rows.integer(i, 8);
  call.tokens.output = rows.integer(i, 9);
  call.tokens.total = rows.integer(i, 10);
  call.tokens.cached = rows.integer(i, 11);
  call.tokens.cache_hit = rows.integer(i, 12);
  call.tokens.cache_miss = rows.integer(i, 13);
  call.tokens.cache_write = rows.integer(i, 14);
  call.tokens.reasoning = rows.integer(i, 15);
  call.tokens.complete = rows.boolean(i, 16);
  if (!rows.is_null(i, 17)) call.cost.direct = Money{rows.integer(i, 17)};
  call.cost.direct_observed = rows.boolean(i, 18);
  call.cost.catalog = Money{rows.integer(i, 19)};
  call.cost.list = parse_price_list(rows.text(i, 20)).value();
  call.cost.price = rows.text(i, 21);
  return call;
}

}  // namespace

std::optional<std::string> budgets_json(Budgets const& budgets) {
  if (!budgets.any()) return std::nullopt;
  std::string out;
  JsonObject object{out};
  append_money(object, "run", budgets.run);
  append_money(object, "thread", budgets.thread);
  append_money(object, "user", budgets.user);
  append_money(object, "day", budgets.day);
  object.number("day_began", budgets.day_began);
  object.close();
  return out;
}

std::optional<std::string> ends_json(std::vector<CallEnd> const& ends) {
  return array_json(ends, append_end);
}

std::optional<std::string> bookings_json(std::vector<CallBooking> const& bookings) {
  return array_json(bookings, append_booking);
}

Statement open_call_statement(NewCall const& call) {
  return Statement{kOpen,
                   call.id,
                   call.run.value,
                   call.epoch,
                   call.stage,
                   call.attempt,
                   call.provider,
                   call.model,
                   call.started_at,
                   call.input_estimate,
                   call.cost_estimate.pico,
                   call.reserve.pico,
                   budgets_json(call.budgets)};
}

Statement unbooked_statement(RunKey run) {
  return Statement{kUnbooked, run.value};
}

Result<std::vector<UnbookedCall>> to_unbooked(Rows const& rows) {
  std::vector<UnbookedCall> calls;
  calls.reserve(static_cast<std::size_t>(rows.size()));
  for (int i = 0; i < rows.size(); ++i) {
    calls.push_back(to_unbooked_call(rows, i));
  }
  return calls;
}

}  // namespace runnel::store::postgres

#include "runnel/model/pricing/call_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "runnel/core/json/write.h"
#include "runnel/core/money/decimal.h"

namespace runnel::model {
namespace {

constexpr int kMoneyDecimals = 12;
constexpr std::int64_t kMillion = 1'000'000;

__extension__ using Wide = __int128;

std::optional<std::int64_t> believed(std::optional<std::int64_t> const& count) {
  return count && *count >= 0 && *count <= kMostTokens ? count : std::nullopt;
}

// The tokens of a call, grouped by their rate.
struct Shares {
  std::int64_t uncached = 0;
  std::int64_t cached = 0;
  std::int64_t cache_write = 0;
  std::int64_t output = 0;
};

Shares share_out(TokenCounts const& tokens, ReportedUsage const& reported) {
  auto const hit = believed(reported.cache_hit_tokens);
  auto const cached = hit ? hit : believed(reported.cached_tokens);
  Shares shares;
  shares.cached = cached.value_or(0);
  shares.cache_write = tokens.cache_write;
  shares.uncached = std::max<std::int64_t>(tokens.input - shares.cached - shares.cache_write, 0);
  shares.output = tokens.output;
  return shares;
}

// The rates of a call. A rate that is not set is replaced by the one that applies instead.
struct Applied {
  std::int64_t input = 0;
  std::int64_t cache_hit = 0;
  std::int64_t cache_write = 0;
  std::int64_t output = 0;
};

Applied apply(Rates const& rates, bool thinking) {
  Applied applied;
  applied.input = rates.input;
  applied.cache_hit = rates.cache_hit > 0 ? rates.cache_hit : rates.input;
  applied.cache_write = rates.cache_write > 0 ? rates.cache_write : rates.input;
  applied.output = thinking && rates.thinking_output > 0 ? rates.thinking_output : rates.output;
  return applied;
}

// An amount that does not fit becomes the largest Money, which is more than any budget.
Money to_money(Wide pico) {
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  return {pico > most ? most : static_cast<std::int64_t>(pico)};
}

Money cost_of(Shares const& shares, Applied const& rates) {
  return to_money(Wide{shares.uncached} * rates.input + Wide{shares.cached} * rates.cache_hit +
                  Wide{shares.cache_write} * rates.cache_write + Wide{shares.output} * rates.output);
}

std::string per_million(std::int64_t rate) {
  return to_decimal({rate * kMillion});
}

void append_text_or_null(JsonObject& object, std::string_view key, std::string_view text) {
  text.empty() ? object.null(key) : object.text(key, text);
}

// Everything that is needed to compute the cost again by hand: the sum of tokens × rate over four kinds of
// tokens.
std::string freeze(Price const& price, Shares const& shares, Applied const& rates, bool thinking) {
  std::string out;
  JsonObject object{out};
  object.text("list", to_string(price.model->list))
      .text("model", price.model->name)
      .text("currency", kCurrency);
  append_text_or_null(object, "from", price.entry->from);
  append_text_or_null(object, "until", price.entry->until);
  append_text_or_null(object, "zone", price.entry->zone ? price.entry->zone->name() : std::string_view{});
  append_text_or_null(object, "window", price.window == nullptr ? std::string_view{} : price.window->name);
  auto const& limit = price.tier->max_prompt_tokens;
  limit ? object.number("max_prompt_tokens", *limit) : object.null("max_prompt_tokens");
  object.boolean("thinking", thinking).boolean("free", price.entry->free);
  JsonObject{object.key("per_million_tokens")}
      .text("input", per_million(rates.input))
      .text("cache_hit", per_million(rates.cache_hit))
      .text("cache_write", per_million(rates.cache_write))
      .text("output", per_million(rates.output))
      .close();
  JsonObject{object.key("tokens")}
      .number("input", shares.uncached)
      .number("cache_hit", shares.cached)
      .number("cache_write", shares.cache_write)
      .number("output", shares.output)
      .close();
  object.close();
  return out;
}

void observe_direct(ReportedUsage const& reported, CallCost& cost) {
  if (!reported.cost || reported.cost_currency != kCurrency) return;
  cost.direct_observed = true;
  auto const units = round_units(*reported.cost, kMoneyDecimals);
  if (auto const* const pico = std::get_if<std::int64_t>(&units)) cost.direct = Money{*pico};
}

}  // namespace

TokenCounts settle_tokens(ReportedUsage const& reported, TokenEstimates const& estimates) {
  auto const input = believed(reported.input_tokens);
  auto const output = believed(reported.output_tokens);
  auto const total = believed(reported.total_tokens);
  auto const estimate = [](std::int64_t count) { return std::clamp<std::int64_t>(count, 1, kMostTokens); };
  TokenCounts tokens;
  tokens.complete = input && output;
  tokens.input = input ? *input : estimate(estimates.input);
  tokens.output = output ? *output : estimate(estimates.output);
  tokens.reasoning = believed(reported.reasoning_tokens).value_or(0);
  bool const reasoning_outside =
      tokens.complete && total && *total == tokens.input + tokens.output + tokens.reasoning;
  if (reasoning_outside) tokens.output += tokens.reasoning;
  tokens.total = tokens.complete && total ? *total : tokens.input + tokens.output;
  tokens.cache_hit = believed(reported.cache_hit_tokens).value_or(0);
  tokens.cached = believed(reported.cached_tokens).value_or(tokens.cache_hit);
  tokens.cache_miss = believed(reported.cache_miss_tokens).value_or(0);
  tokens.cache_write = believed(reported.cache_write_tokens).value_or(0);
  return tokens;
}

CallCost price_call(PriceBook const& book, std::string_view model, std::int64_t start_ms,
                    TokenCounts const& tokens, bool thinking, ReportedUsage const& reported) {
  CallCost cost;
  observe_direct(reported, cost);
  auto const price = book.find(model, start_ms, tokens.input);
  if (!price) return cost;
  auto const shares = share_out(tokens, reported);
  auto const rates = apply(price->tier->rates, thinking);
  cost.catalog = cost_of(shares, rates);
  cost.list = price->model->list;
  cost.price = freeze(*price, shares, rates, thinking);
  return cost;
}

Result<Money> worst_case_cost(PriceBook const& book, std::string_view model, std::int64_t start_ms,
                              std::int64_t input_tokens, std::int64_t max_output_tokens) {
  auto const price = book.find(model, start_ms, input_tokens);
  if (!price) return Error{Errc::invalid, fmt::format("model '{}' has no price now", model)};
  auto const& rates = price->tier->rates;
  auto const input = std::max({rates.input, rates.cache_hit, rates.cache_write});
  auto const output = std::max(rates.output, rates.thinking_output);
  return to_money(Wide{input_tokens} * input + Wide{max_output_tokens} * output);
}

}  // namespace runnel::model

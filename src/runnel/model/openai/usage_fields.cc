#include "runnel/model/openai/usage_fields.h"

#include "runnel/core/money/decimal.h"

namespace runnel::model {
namespace {

constexpr int kMilliDecimals = 3;
constexpr std::int64_t kLongestCallMs = std::int64_t{24} * 3600 * 1000;

using Count = std::optional<std::int64_t>;

Count usable(Count const& count) {
  return count && *count >= 0 && *count <= kMostTokens ? count : std::nullopt;
}

template <class... More>
Count first_count(More const&... counts) {
  Count first;
  ((first = first ? first : usable(counts)), ...);
  return first;
}

Count to_ms(std::optional<std::string> const& seconds) {
  if (!seconds) return std::nullopt;
  auto const units = round_units(*seconds, kMilliDecimals);
  auto const* const ms = std::get_if<std::int64_t>(&units);
  return ms != nullptr && *ms <= kLongestCallMs ? Count{*ms} : std::nullopt;
}

template <class T>
std::optional<T> first_of(std::optional<T> const& first, std::optional<T> const& second) {
  return first ? first : second;
}

template <class T, class... More>
std::optional<T> first_of(std::optional<T> const& first, std::optional<T> const& second,
                          More const&... more) {
  return first ? first : first_of(second, more...);
}

}  // namespace

ReportedUsage collect_usage(UsageFields const& direct, UsageFields const& metadata) {
  ReportedUsage usage;
  usage.input_tokens =
      first_count(direct.input_tokens, direct.prompt_tokens, metadata.input_tokens, metadata.prompt_tokens);
  usage.output_tokens = first_count(direct.output_tokens, direct.completion_tokens, metadata.output_tokens,
                                    metadata.completion_tokens);
  usage.total_tokens = first_count(direct.total_tokens, metadata.total_tokens);
  usage.cached_tokens = first_count(direct.cached_tokens, metadata.cached_tokens);
  usage.cache_hit_tokens = first_count(direct.cache_hit_tokens, metadata.cache_hit_tokens);
  usage.cache_miss_tokens = first_count(direct.cache_miss_tokens, metadata.cache_miss_tokens);
  usage.cache_write_tokens = first_count(direct.cache_write_tokens, metadata.cache_write_tokens);
  usage.reasoning_tokens = first_count(direct.reasoning_tokens, metadata.reasoning_tokens);
  usage.latency_ms = to_ms(direct.time);
  usage.cost = first_of(direct.cost, metadata.cost, direct.total_cost, metadata.total_cost);
  usage.cost_currency = first_of(direct.currency, metadata.currency).value_or("");
  return usage;
}

}  // namespace runnel::model

#include "runnel/model/usage_fields.h"

namespace runnel::model {
namespace {

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
      first_of(direct.input_tokens, direct.prompt_tokens, metadata.input_tokens, metadata.prompt_tokens);
  usage.output_tokens = first_of(direct.output_tokens, direct.completion_tokens, metadata.output_tokens,
                                 metadata.completion_tokens);
  usage.total_tokens = first_of(direct.total_tokens, metadata.total_tokens);
  usage.cached_tokens = first_of(direct.cached_tokens, metadata.cached_tokens);
  usage.cache_hit_tokens = first_of(direct.cache_hit_tokens, metadata.cache_hit_tokens);
  usage.cache_miss_tokens = first_of(direct.cache_miss_tokens, metadata.cache_miss_tokens);
  usage.cache_write_tokens = first_of(direct.cache_write_tokens, metadata.cache_write_tokens);
  usage.reasoning_tokens = first_of(direct.reasoning_tokens, metadata.reasoning_tokens);
  usage.cost = first_of(direct.cost, metadata.cost, direct.total_cost, metadata.total_cost);
  usage.cost_currency = first_of(direct.currency, metadata.currency).value_or("");
  return usage;
}

}  // namespace runnel::model

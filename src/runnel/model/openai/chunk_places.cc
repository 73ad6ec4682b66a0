#include "runnel/model/openai/chunk_places.h"

namespace runnel::model {

Expected usage_member(UsageFields& fields, std::string_view key) {
  if (key == "prompt_tokens") return number_in(fields.prompt_tokens);
  if (key == "completion_tokens") return number_in(fields.completion_tokens);
  if (key == "total_tokens") return number_in(fields.total_tokens);
  if (key == "input_tokens") return number_in(fields.input_tokens);
  if (key == "output_tokens") return number_in(fields.output_tokens);
  if (key == "prompt_cache_hit_tokens") return number_in(fields.cache_hit_tokens);
  if (key == "prompt_cache_miss_tokens") return number_in(fields.cache_miss_tokens);
  if (key == "cached_tokens") return number_in(fields.cached_tokens);
  if (key == "reasoning_tokens") return number_in(fields.reasoning_tokens);
  if (key == "cache_creation_input_tokens") return number_in(fields.cache_write_tokens);
  if (key == "time") return digits_in(fields.time);
  if (key == "cost") return anything_in(fields.cost);
  if (key == "total_cost") return anything_in(fields.total_cost);
  if (key == "currency") return verbatim_in(fields.currency);
  if (key == "prompt_tokens_details" || key == "completion_tokens_details")
    return object_at(Place::usage_details);
  return {};
}

Expected usage_detail(UsageFields& fields, std::string_view key) {
  if (key == "cached_tokens") return number_in(fields.cached_tokens);
  if (key == "reasoning_tokens") return number_in(fields.reasoning_tokens);
  if (key == "cache_creation_input_tokens") return number_in(fields.cache_write_tokens);
  return {};
}

}  // namespace runnel::model

#include "runnel/model/openai/provider.h"

#include <algorithm>

namespace runnel::model {

bool OpenAiProvider::serves(std::string const& model) const {
  return std::any_of(options_->models.begin(), options_->models.end(),
                     [&](std::string const& pattern) { return matches_pattern(pattern, model); });
}

// If thoughts have their own limit, both limits have the same value (chat_request.cc).
std::int64_t OpenAiProvider::most_output(std::int64_t max_output_tokens) const {
  bool const apart = options_->vendor.thinking_budget && options_->thinks();
  return apart ? 2 * max_output_tokens : max_output_tokens;
}

std::unique_ptr<Call> OpenAiProvider::call(CallRequest request) {
  return std::make_unique<OpenAiCall>(options_, request, post_, now_);
}

}  // namespace runnel::model

#include "runnel/model/openai_provider.h"

#include <algorithm>

namespace runnel::model {

bool OpenAiProvider::serves(std::string const& model) const {
  return std::any_of(options_->models.begin(), options_->models.end(),
                     [&](std::string const& pattern) { return matches_pattern(pattern, model); });
}

std::unique_ptr<Call> OpenAiProvider::call(CallRequest request) {
  return std::make_unique<OpenAiCall>(options_, request, post_, now_);
}

}  // namespace runnel::model

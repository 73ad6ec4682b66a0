#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "runnel/model/openai/call.h"
#include "runnel/model/openai/vendor.h"
#include "runnel/model/provider.h"

namespace runnel::model {

// A provider for any server that offers OpenAI's chat completions (USE-1).
class OpenAiProvider final : public Provider {
 public:
  // `post` must use the HTTP client of the calling core.
  OpenAiProvider(ProviderOptions options, Post post, SteadyNow now = std::chrono::steady_clock::now)
      : options_{std::make_shared<ProviderOptions const>(std::move(options))},
        post_{std::move(post)},
        now_{std::move(now)} {}

  [[nodiscard]] std::vector<std::string> models() const override { return options_->models; }
  [[nodiscard]] bool serves(std::string const& model) const override;
  [[nodiscard]] std::string name() const override { return options_->name; }
  [[nodiscard]] std::string price_name(std::string const& model) const override {
    return options_->price_name.empty() ? model : options_->price_name;
  }
  [[nodiscard]] bool thinks() const override { return options_->thinks(); }
  [[nodiscard]] bool may_think() const override { return options_->may_think(); }
  [[nodiscard]] std::int64_t most_output(std::int64_t max_output_tokens) const override;
  [[nodiscard]] std::optional<std::int64_t> max_output_tokens() const override {
    return options_->max_output_tokens;
  }
  std::unique_ptr<Call> call(CallRequest request) override;

 private:
  std::shared_ptr<ProviderOptions const> options_;
  Post post_;
  SteadyNow now_;
};

}  // namespace runnel::model

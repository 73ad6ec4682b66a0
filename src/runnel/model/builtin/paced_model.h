#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runnel/model/provider.h"

namespace runnel::model {

// What a test model's name asks for.
struct PacedScript {
  std::int64_t tokens = 0;
  std::chrono::microseconds apart{0};
  std::int64_t burst = 1;  // Tokens that come together; a burst of B comes every B × `apart`.
  std::chrono::microseconds before_first{0};

  bool operator==(PacedScript const&) const = default;
};

// Reads `tok-K-D[-B[-I]]`: K tokens, D µs apart, B tokens in a burst, I µs before the first. If B is absent
// or 0, a burst has one token, or 64 if D is 0. If I is absent or 0, the first token comes after D. Empty if
// there is no such model.
std::optional<PacedScript> parse_paced_model(std::string_view name);

// Models for measurements: they send as many tokens as their name says, and as fast. Each token's text is
// `@<14 hex>~`, the CLOCK_MONOTONIC nanoseconds when it was made, so that a client on the same machine knows
// how long it took. The pace is kept on the whole: a late burst does not delay the following ones. If the
// answer has a contract of the shipped flows, the tokens are the text of its JSON.
class PacedModelProvider final : public Provider {
 public:
  [[nodiscard]] std::vector<std::string> models() const override { return {"tok-*"}; }
  [[nodiscard]] bool serves(std::string const& model) const override {
    return parse_paced_model(model).has_value();
  }
  [[nodiscard]] std::string name() const override { return "test"; }
  // The answer of a model that it does not serve has no tokens.
  std::unique_ptr<Call> call(CallRequest request) override;
};

}  // namespace runnel::model

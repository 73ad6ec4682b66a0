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
struct TestScript {
  std::int64_t tokens = 0;
  std::chrono::microseconds apart{0};
  std::int64_t burst = 1;  // Tokens that are handed over together; a burst of B comes every B × `apart`.
  std::chrono::microseconds before_first{0};

  bool operator==(TestScript const&) const = default;
};

// `tok-K-D[-B[-I]]`: K tokens, D µs apart, B in a burst, I µs before the first. Without B, or with 0, a burst
// is one token, or 64 where D is 0; without I, or with 0, the first token comes after D. None: no such model.
std::optional<TestScript> parse_test_model(std::string_view name);

// Models for measuring: as many tokens and as fast as their name says. Each token's text is `@<14 hex>~`, the
// CLOCK_MONOTONIC nanoseconds when it was made, so that a client on the same machine knows how long it took.
// The pace is kept on the whole: what came late does not delay what follows. Where the answer has a contract
// of the shipped flows, the tokens are the text of its JSON.
class TestModelProvider final : public Provider {
 public:
  [[nodiscard]] std::vector<std::string> models() const override { return {"tok-*"}; }
  [[nodiscard]] bool serves(std::string const& model) const override {
    return parse_test_model(model).has_value();
  }
  [[nodiscard]] std::string name() const override { return "test"; }
  // A model that it does not serve answers with no token.
  std::unique_ptr<Call> call(CallRequest request) override;
};

}  // namespace runnel::model

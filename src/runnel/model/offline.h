#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "runnel/model/provider.h"

namespace runnel::model {

struct OfflineOptions {
  std::chrono::microseconds word_delay{30'000};
  std::size_t words = 0;  // Pads the answer to this many words, so that a run lasts; 0: as it is.
};

// The built-in model (USE-2): rules, no network, the same answer to the same message. It says what it is, in
// Chinese where the message has Chinese characters and in English otherwise, word by word. It keeps the
// contracts of the shipped flows, and has no tools.
class OfflineProvider final : public Provider {
 public:
  explicit OfflineProvider(OfflineOptions options) : options_{options} {}

  [[nodiscard]] std::vector<std::string> models() const override { return {"offline"}; }
  [[nodiscard]] std::string name() const override { return "offline"; }
  std::unique_ptr<Call> call(CallRequest request) override;

 private:
  OfflineOptions options_;
};

// The whole answer, as pieces that join to it.
std::vector<std::string> offline_answer(std::string const& message, OfflineOptions const& options);

// The same for a call: the answer to what the user said, as the JSON object of the call's contract where that
// is a known one.
std::vector<std::string> offline_output(CallRequest const& request, OfflineOptions const& options);

// How many tokens the offline model says a text has: its words, and each Chinese character.
std::int64_t count_offline_tokens(std::string const& text);

// The end of a built-in model's answer: it knows what it used, and none of it was cached or reasoning.
CallFinished counted_end(std::int64_t input_tokens, std::int64_t output_tokens);

}  // namespace runnel::model

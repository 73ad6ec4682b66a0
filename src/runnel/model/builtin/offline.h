#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "runnel/model/provider.h"

namespace runnel::model {

struct OfflineOptions {
  std::chrono::microseconds word_delay{30'000};
  std::size_t words = 0;  // Pads the answer to this many words, so that a run lasts longer; 0 means none.
};

// The built-in model (USE-2): it works by rules, uses no network, and gives the same answer to the same
// request. It understands requests about the calendar, contacts and memory in Chinese and English, and calls
// project_cli for them where that tool is offered. What it does not understand, it answers by saying what it
// is. It streams word by word, in Chinese if the message has Chinese characters and in English otherwise. Its
// answers satisfy the contracts of the shipped flows.
class OfflineProvider final : public Provider {
 public:
  explicit OfflineProvider(OfflineOptions options) : options_{options} {}

  [[nodiscard]] std::vector<std::string> models() const override { return {"offline"}; }
  [[nodiscard]] std::string name() const override { return "offline"; }
  std::unique_ptr<Call> call(CallRequest request) override;

 private:
  OfflineOptions options_;
};

// What it answers to a call: a text, which is the JSON object of the call's contract if that contract is
// known, or a tool call.
using OfflineOutput = std::variant<std::string, ToolCall>;
OfflineOutput offline_output(CallRequest const& request, OfflineOptions const& options);

// How many tokens the offline model counts in a text: one per word and one per wide (such as Chinese)
// character.
std::int64_t count_offline_tokens(std::string const& text);

// The end of a built-in model's answer. The model knows its usage; none of it is cached or reasoning.
CallFinished counted_end(std::int64_t input_tokens, std::int64_t output_tokens);

}  // namespace runnel::model

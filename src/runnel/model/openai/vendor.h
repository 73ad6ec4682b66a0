#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runnel/model/secret.h"

namespace runnel::model {

// How a vendor is told whether to think before it answers.
enum class ThinkingSwitch {
  none,           // Only by `reasoning_effort`, if the vendor has it.
  thinking_type,  // DeepSeek: `thinking:{type}`; it thinks unless told not to.
  enable_flag,    // DashScope: `enable_thinking`; always sent, because its default depends on the model.
};

// How one vendor's chat completions differ from another's.
struct Vendor {
  std::string name;
  ThinkingSwitch thinking_switch = ThinkingSwitch::none;
  bool json_mode = true;                     // Accepts `response_format` with `json_object`.
  bool required_tool_while_thinking = true;  // Accepts `tool_choice` `required` while it thinks.
  bool parallel_tool_calls = true;           // Accepts `parallel_tool_calls`.
  // While thinking, a turn with tool calls must include its reasoning, even if that is empty.
  bool wants_reasoning_back = false;
  bool max_completion_tokens = false;  // Uses this name for `max_tokens`.
  bool thinking_budget = false;  // `thinking_budget` limits thoughts; `max_tokens` limits only the answer.
  bool hides_thinking = false;   // Its models may think without showing it.
  bool quota_recovers = false;   // 429 `insufficient_quota` is a rate limit, not an empty account.
  std::string cost_currency;     // The currency of a cost that it sends without one; empty if unknown.
  bool think_tags = false;       // Reasoning may come as `<think>…</think>` before the text.
};

// "deepseek", "dashscope", "openai" or "local" (llama.cpp, Ollama, vLLM, LM Studio). Empty if there is no
// such vendor.
std::optional<Vendor> find_vendor(std::string_view name);
std::vector<std::string> vendor_names();

// How long a call waits for what.
struct CallTimeouts {
  std::chrono::milliseconds connect{10'000};
  std::chrono::milliseconds first_payload{300'000};  // From the call's start to the first event.
  std::chrono::milliseconds idle_payload{120'000};   // Between two events; a keep-alive is not an event.
  std::chrono::milliseconds idle_bytes{120'000};     // Between two bytes of any kind, after the head.
  std::chrono::milliseconds total{1'800'000};
};

enum class Thinking { vendor_default, on, off };

// The configuration of one provider.
struct ProviderOptions {
  std::string name;  // For the ledger and the wire.
  Vendor vendor;
  std::string base_url;             // "https://api.deepseek.com"; "/chat/completions" is added to it.
  Secret api_key;                   // Empty if none is sent.
  std::vector<std::string> models;  // Names and patterns such as "tok-*".
  std::string price_name;           // The price book's name for all models. If empty, each has its own name.
  CallTimeouts timeouts;
  Thinking thinking = Thinking::vendor_default;
  std::string reasoning_effort;                   // Empty for the vendor's default.
  std::optional<std::int64_t> max_output_tokens;  // For calls that set no limit.
  bool http2 = false;

  // Whether the model will think, as far as that is known.
  [[nodiscard]] bool thinks() const;
  // Whether it may think, even without showing it.
  [[nodiscard]] bool may_think() const;
};

// Whether `name` matches `pattern`, in which each `*` stands for any number of characters.
bool matches_pattern(std::string_view pattern, std::string_view name);

}  // namespace runnel::model

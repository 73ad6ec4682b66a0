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
  none,           // Only by `reasoning_effort`, where it has one.
  thinking_type,  // DeepSeek: `thinking:{type}`; it thinks unless told not to.
  enable_flag,    // DashScope: `enable_thinking`; what holds without it depends on the model, so always sent.
};

// In what one vendor's chat completions differ from another's.
struct Profile {
  std::string name;
  ThinkingSwitch thinking_switch = ThinkingSwitch::none;
  bool json_mode = true;                     // Takes `response_format` with `json_object`.
  bool required_tool_while_thinking = true;  // Takes `tool_choice` `required` while it thinks.
  bool parallel_tool_calls = true;           // Takes `parallel_tool_calls`.
  bool wants_reasoning_back =
      false;  // While thinking, a turn with tool calls needs its reasoning, be it empty.
  bool max_completion_tokens = false;  // Calls `max_tokens` so.
  bool thinking_budget = false;  // `max_tokens` is for the answer alone; `thinking_budget` limits thoughts.
  bool hides_thinking = false;   // Its models may think without showing it.
  bool quota_recovers = false;   // 429 `insufficient_quota` is a rate limit, not an empty account.
  std::string cost_currency;     // Of a cost that it sends without saying; empty: unknown.
  bool think_tags = false;       // Reasoning may come as `<think>…</think>` in front of the text.
};

// "deepseek", "dashscope", "openai" or "local" (llama.cpp, Ollama, vLLM, LM Studio); none: no such profile.
std::optional<Profile> find_profile(std::string_view name);
std::vector<std::string> profile_names();

// How long to wait, and for what.
struct CallTimeouts {
  std::chrono::milliseconds connect{10'000};
  std::chrono::milliseconds first_payload{
      300'000};                                     // From the call's begin to the first event of the stream.
  std::chrono::milliseconds idle_payload{120'000};  // Between two events; a keep-alive is none.
  std::chrono::milliseconds idle_bytes{120'000};    // Between two bytes of any kind, after the head.
  std::chrono::milliseconds total{1'800'000};
};

enum class Thinking { vendor_default, on, off };

// One source of models as it is configured.
struct ProviderOptions {
  std::string name;  // For the ledger and the wire.
  Profile profile;
  std::string base_url;             // "https://api.deepseek.com"; what follows is "/chat/completions".
  Secret api_key;                   // Empty: none is sent.
  std::vector<std::string> models;  // Names and patterns such as "tok-*".
  std::string price_name;           // All cost what the book has under this name; empty: each its own.
  CallTimeouts timeouts;
  Thinking thinking = Thinking::vendor_default;
  std::string reasoning_effort;                   // Empty: the vendor's default.
  std::optional<std::int64_t> max_output_tokens;  // Where a call does not say.
  bool http2 = false;

  // Whether the model will think, as far as one can know.
  [[nodiscard]] bool thinks() const;
  // Whether it may think, be it unseen.
  [[nodiscard]] bool may_think() const;
};

// Whether `name` is `pattern`, in which each `*` stands for any characters or none.
bool matches_pattern(std::string_view pattern, std::string_view name);

}  // namespace runnel::model

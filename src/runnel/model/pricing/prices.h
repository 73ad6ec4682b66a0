#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runnel/core/error.h"
#include "runnel/core/money/call_usage.h"
#include "runnel/core/time/zone.h"
#include "runnel/model/pricing/price_times.h"

// What models cost (USE-5, USE-6). All rates are whole numbers of 1e-12 CNY per token.
namespace runnel::model {

// The only currency that is supported: nothing is converted (USE-7).
inline constexpr std::string_view kCurrency = "CNY";

// 10,000 CNY per million tokens. At this rate, a Money can hold the cost of kMostTokens tokens
// (model/openai/usage_fields.h) of input and as many of output.
inline constexpr std::int64_t kHighestRate = 10'000'000'000;

struct Rates {
  std::int64_t input = 0;
  std::int64_t output = 0;
  std::int64_t cache_hit = 0;        // 0 if not set; `input` applies then.
  std::int64_t cache_write = 0;      // 0 if not set; `input` applies then.
  std::int64_t thinking_output = 0;  // For all output in thinking mode. 0 if not set; `output` applies then.

  bool operator==(Rates const&) const = default;
};

// A tier is chosen once per call, by its prompt tokens, and applies to all its tokens.
struct Tier {
  std::optional<std::int64_t> max_prompt_tokens;  // Grows from tier to tier. Empty in the last one.
  Rates rates;

  bool operator==(Tier const&) const = default;
};

// Times of the week that have their own prices.
struct Window {
  std::string name;
  std::vector<std::chrono::weekday> days;
  std::vector<Hours> hours;
  std::vector<std::chrono::local_days> except;  // The window does not apply on these days.
  std::vector<Tier> tiers;

  [[nodiscard]] bool holds(LocalMinute const& at) const;
};

// The price of a model from one instant until another.
struct PriceEntry {
  std::string from;   // As written. Empty if the entry has no beginning.
  std::string until;  // As written. Empty if the entry has no end.
  std::optional<std::int64_t> from_ms;
  std::optional<std::int64_t> until_ms;  // Excluded.
  std::optional<Zone> zone;              // For days and windows, if there are any.
  std::vector<Tier> tiers;               // For times outside the windows.
  std::vector<Window> windows;
  bool free = false;  // All rates are 0.

  [[nodiscard]] bool holds(std::int64_t at_ms) const {
    return (!from_ms || at_ms >= *from_ms) && (!until_ms || at_ms < *until_ms);
  }
};

struct ModelPrices {
  std::string name;  // In the custom list it may be a pattern: each * stands for any characters.
  PriceList list = PriceList::custom_pricing;
  std::vector<PriceEntry> entries;  // Oldest first. They do not overlap.
  std::string unusable{};           // Why there are no entries, in words for the operator.
};

// The price of a model that costs nothing.
ModelPrices free_model(std::string name);

// The price that applies to one call. It is valid while its book exists and does not change.
struct Price {
  ModelPrices const* model = nullptr;
  PriceEntry const* entry = nullptr;
  Window const* window = nullptr;  // Null if the call is outside all windows.
  Tier const* tier = nullptr;
};

// The prices of all models. A model is looked up first by its name in the custom list, then by the patterns
// of that list (the first match counts), then by its name in the catalog. The first place that has the model
// decides, even if it has no price for the time in question. Any thread may call the const functions.
class PriceBook {
 public:
  // Replaces the prices of that name in the same list.
  void put(ModelPrices prices);

  // The price of a call that starts at `at_ms`. Empty if the model has no price at that time.
  [[nodiscard]] std::optional<Price> find(std::string_view model, std::int64_t at_ms,
                                          std::int64_t prompt_tokens) const;

  // The ones of `models` that have no price at `at_ms`.
  [[nodiscard]] std::vector<std::string> unpriced(std::span<std::string const> models,
                                                  std::int64_t at_ms) const;

  // Fails with `invalid` if one of `models` has no price at `at_ms`. The detail tells the operator which
  // ones, and what to add to `file`.
  [[nodiscard]] Result<void> require(std::span<std::string const> models, std::int64_t at_ms,
                                     std::string_view file) const;

 private:
  [[nodiscard]] ModelPrices const* look_up(std::string_view model) const;

  std::map<std::string, ModelPrices, std::less<>> custom_;
  std::vector<ModelPrices> patterns_;
  std::map<std::string, ModelPrices, std::less<>> catalog_;
};

}  // namespace runnel::model

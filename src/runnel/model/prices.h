#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runnel/core/call_usage.h"
#include "runnel/core/error.h"
#include "runnel/core/zone.h"
#include "runnel/model/price_times.h"

// What models cost (USE-5, USE-6). All rates are whole numbers of 1e-12 CNY per token.
namespace runnel::model {

// The only currency there is: nothing is converted (USE-7).
inline constexpr std::string_view kCurrency = "CNY";

// 10,000 CNY per million tokens. A call of all the tokens that are believed (call_cost.h) still fits a Money.
inline constexpr std::int64_t kHighestRate = 10'000'000'000;

struct Rates {
  std::int64_t input = 0;
  std::int64_t output = 0;
  std::int64_t cache_hit = 0;        // 0: not set; as input.
  std::int64_t cache_write = 0;      // 0: not set; as input.
  std::int64_t thinking_output = 0;  // All output of a call in thinking mode. 0: not set; as output.

  bool operator==(Rates const&) const = default;
};

// Chosen once, by a call's prompt tokens; then it holds for all its tokens.
struct Tier {
  std::optional<std::int64_t> max_prompt_tokens;  // Ascending; the last has none.
  Rates rates;

  bool operator==(Tier const&) const = default;
};

// Times of the week that have prices of their own.
struct Window {
  std::string name;
  std::vector<std::chrono::weekday> days;
  std::vector<Hours> hours;
  std::vector<std::chrono::local_days> except;  // On these days it does not hold.
  std::vector<Tier> tiers;

  [[nodiscard]] bool holds(LocalMinute const& at) const;
};

// The price of a model from one instant until another.
struct PriceEntry {
  std::string from;  // As written; empty: since ever.
  std::string until;
  std::optional<std::int64_t> from_ms;
  std::optional<std::int64_t> until_ms;  // Excluded.
  std::optional<Zone> zone;              // Of days and windows; where there are any.
  std::vector<Tier> tiers;               // Outside of the windows.
  std::vector<Window> windows;
  bool free = false;  // All rates are 0.

  [[nodiscard]] bool holds(std::int64_t at_ms) const {
    return (!from_ms || at_ms >= *from_ms) && (!until_ms || at_ms < *until_ms);
  }
};

struct ModelPrices {
  std::string name;  // Of custom prices also a pattern: each * stands for any characters.
  PriceList list = PriceList::custom_pricing;
  std::vector<PriceEntry> entries;  // Oldest first, none overlapping.
  std::string unusable{};           // Why there are none, in words for the operator.
};

// The price of a model that costs nothing.
ModelPrices free_model(std::string name);

// What holds for one call. Lives as long as its book, unchanged.
struct Price {
  ModelPrices const* model = nullptr;
  PriceEntry const* entry = nullptr;
  Window const* window = nullptr;  // Null: outside of all windows.
  Tier const* tier = nullptr;
};

// The prices of all models: a name of the custom list first, then a pattern of it (the first that matches),
// then a name of the catalog. A model that one of them knows is not looked for in the next. Safe to ask from
// any thread.
class PriceBook {
 public:
  // Replaces the prices of that name in the same list.
  void put(ModelPrices prices);

  // The price of a call that starts at `at_ms`; none: the model has no price then.
  [[nodiscard]] std::optional<Price> find(std::string_view model, std::int64_t at_ms,
                                          std::int64_t prompt_tokens) const;

  // Those of `models` that have no price at `at_ms`.
  [[nodiscard]] std::vector<std::string> unpriced(std::span<std::string const> models,
                                                  std::int64_t at_ms) const;

  // Fails with `invalid` where one of `models` has no price at `at_ms`; the detail tells the operator which,
  // and what to add to `file`.
  [[nodiscard]] Result<void> require(std::span<std::string const> models, std::int64_t at_ms,
                                     std::string_view file) const;

 private:
  [[nodiscard]] ModelPrices const* look_up(std::string_view model) const;

  std::map<std::string, ModelPrices, std::less<>> custom_;
  std::vector<ModelPrices> patterns_;
  std::map<std::string, ModelPrices, std::less<>> catalog_;
};

}  // namespace runnel::model

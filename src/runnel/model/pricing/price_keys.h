#pragma once

#include <string_view>

namespace runnel::model {

// What a key of an entry in LiteLLM's format means for Runnel.
enum class PriceKey {
  none,         // Not a price: `max_tokens`, `supports_vision`, `source`.
  other,        // A price of something that no call asks for: images, batches, an hour of cache.
  unsupported,  // A price of a text call, but not per token: a model with it has no price here.
  unknown,      // It looks like a price, but it is not known of what.
};

// Classifies a key that is not one of the names for the price of a token.
PriceKey classify_price_key(std::string_view key);

}  // namespace runnel::model

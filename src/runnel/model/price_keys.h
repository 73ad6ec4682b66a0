#pragma once

#include <string_view>

namespace runnel::model {

// What a key of an entry in LiteLLM's format is to us.
enum class PriceKey {
  none,         // Not a price: `max_tokens`, `supports_vision`, `source`.
  other,        // Of something that no call of ours asks for: images, batches, an hour of cache.
  unsupported,  // Of a text call, and not per token: a model with it has no price here.
  unknown,      // It looks like a price, and nobody can say of what.
};

// Of a key that is none of the words for the price of a token.
PriceKey classify_price_key(std::string_view key);

}  // namespace runnel::model

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "runnel/modules/method.h"

// What methods with `mode: single|batch` have in common (TOOL-12).
namespace runnel::modules {

// A batch has at most this many items.
inline constexpr std::size_t kMostBatchItems = 1000;

// The code of the failure of a batch of which no item could be done.
inline constexpr char kBatchFailed[] = "BATCH_FAILED";

// What one item has come to, or the input of a single call.
struct ItemDone {
  explicit ItemDone(std::string found, std::vector<store::SqlStatement> changes = {})
      : data{std::move(found)}, effect{std::move(changes)} {}

  std::string data;  // A JSON object with at least one member.
  std::vector<store::SqlStatement> effect;
};
using ItemAnswer = std::variant<ItemDone, MethodFailure>;

// The answer of a batch: {"items":[…],"count","failed"}, where each item has "index" and either its data or
// {"outcome":"failed","error":{"code","message"}}. It is partial if some items have failed, and a failure
// with the code kBatchFailed and the items if all have.
MethodAnswer join_items(std::vector<ItemAnswer> answers);

// The input schema of a method with both modes. `item` is the schema of an item: an object, or a `oneOf` of
// objects, each with `properties`. A single call has the members of an item and, if it likes,
// "mode":"single"; a batch has the mode "batch" and a list "items" of 1 to kMostBatchItems items.
std::string schema_with_batch(std::string_view description, std::string_view item);

}  // namespace runnel::modules

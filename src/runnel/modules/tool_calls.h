#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runnel/base/tokens/tool_credentials.h"
#include "runnel/core/ids.h"
#include "runnel/store/sql.h"

namespace runnel::modules {

// A call that may still take effect, or has taken it.
struct OpenCall {
  std::string receipt;            // Empty if nothing has been decided.
  std::string profile;            // The user's, as it was frozen with the run; see read_stored_profile().
  std::int64_t stored_bytes = 0;  // What the user's data takes (HTTP-9).
  std::string name;               // The method that the call was started for.
  std::string args_hash;          // The hash of the arguments that were recorded; see ToolCallStart.
};

// The receipt of a call that has taken effect, wholly or in part, or will never do so. `data` and `error` are
// JSON objects.
std::string receipt_of_effect(std::string_view data, bool partial = false);
std::string receipt_of_failure(std::string_view error);

// The data in a receipt. Empty if it is the receipt of a failure.
std::optional<std::string_view> data_in(std::string_view receipt);
// Whether it is the receipt of a batch of which only a part took effect.
bool is_partial(std::string_view receipt);
// The error in a receipt. Empty if it is the receipt of an effect.
std::optional<std::string_view> error_in(std::string_view receipt);

// The rows of tool calls, as the modules see them (docs/decisions/045). A call's receipt is written once and
// decides what became of the call: its effect, in the same transaction, or a failure, after which it can have
// no effect.
class ToolCalls {
 public:
  explicit ToolCalls(store::Sql& sql) : sql_{&sql} {}

  // Empty if the call is closed, or if another writer has taken it over.
  store::Async<std::optional<OpenCall>> find(base::ToolGrant grant);

  // Writes the effect and the receipt. Fails with `conflict` if the call has a receipt, may not take effect
  // any more, or if its run is being canceled; and if a statement of the effect touches other rows than it
  // must. Then nothing is written.
  store::Async<void> take_effect(base::ToolGrant grant, std::string receipt,
                                 std::vector<store::SqlStatement> effect);

  // Makes sure that the call has a receipt, `failure` if it has none, and returns the receipt that it has.
  // Fails with `fenced` if the call is not open or another writer has taken it over.
  store::Async<std::string> settle(base::ToolGrant grant, std::string failure);

 private:
  store::Sql* sql_;
};

}  // namespace runnel::modules

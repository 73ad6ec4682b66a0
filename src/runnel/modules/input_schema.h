#pragma once

#include <boost/json/fwd.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runnel/base/schema/json_schema.h"
#include "runnel/core/error.h"

namespace runnel::modules {

// The JSON Schema of a method's input, ready to judge inputs. The items of a batch are judged one by one: a
// bad item is a fault of that item and not of the input, so that the other items can still be done (TOOL-12).
// A schema has a batch if one branch of its `oneOf` has the mode "batch" and a list `items`.
class InputSchema {
 public:
  // Fails like base::JsonSchema::load.
  static Result<InputSchema> load(std::string_view schema);

  struct Judgement {
    std::string fault{};                     // What is wrong with the input. Empty if nothing is.
    std::vector<std::string> item_faults{};  // As MethodCall has them. Empty if the input is no batch.
  };
  [[nodiscard]] Judgement judge(boost::json::object const& input) const;

  // The whole schema on one line.
  [[nodiscard]] std::string const& line() const { return line_; }

 private:
  InputSchema(base::JsonSchema whole, std::optional<base::JsonSchema> item, std::string line)
      : whole_{std::move(whole)}, item_{std::move(item)}, line_{std::move(line)} {}

  base::JsonSchema whole_;  // Without what it says about items.
  std::optional<base::JsonSchema> item_;
  std::string line_;
};

}  // namespace runnel::modules

#pragma once

#include <boost/json/object.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runnel/base/schema/json_schema.h"
#include "runnel/core/error.h"

namespace runnel::flow {

// What a stage's output must look like (FLOW-4): a JSON Schema for an object, and rules between its fields.
// Unknown fields are ignored. A contract never changes, so any thread may use it.
class Contract {
 public:
  // If the field `when` has the value `is`, `field` must be a text that is not only Unicode white space.
  struct Rule {
    std::string when;
    std::string is;
    std::string field;
  };

  // Fails with `invalid` and a detail for the author if base::JsonSchema refuses the schema, if it does not
  // describe an object, or if a rule names an unknown field or can never be satisfied or never apply.
  static Result<Contract> make(std::string name, boost::json::object schema, std::vector<Rule> rules);

  [[nodiscard]] std::string const& name() const { return name_; }
  // For the prompt: the schema as one line of JSON, with its fields in the author's order.
  [[nodiscard]] std::string const& schema_text() const { return schema_text_; }
  [[nodiscard]] std::vector<std::string> const& rule_texts() const { return rule_texts_; }

  [[nodiscard]] bool has_field(std::string_view field) const;
  [[nodiscard]] bool requires_field(std::string_view field) const;
  // Whether a field can only be a text or, if `null` allows it, null.
  enum class Null { refused, allowed };
  [[nodiscard]] bool is_text(std::string_view field, Null null) const;
  // The values that the schema's `enum` allows for a field. Empty if it has no `enum`, or one with a value
  // that is not a text or is an empty text.
  [[nodiscard]] std::vector<std::string> choices(std::string_view field) const;

  // What is wrong with the output, in words for the model that wrote it: "/route: must be one of …". Empty if
  // it satisfies the contract. At most base::kMostViolations, none of them long, whatever the output holds.
  [[nodiscard]] std::vector<std::string> check(boost::json::object const& output) const;

 private:
  Contract() = default;
  [[nodiscard]] std::vector<base::Violation> violations(boost::json::value const& output) const;

  std::string name_;
  std::string schema_text_;
  boost::json::object schema_;
  std::optional<base::JsonSchema> compiled_;
  std::vector<Rule> rules_;
  std::vector<std::string> rule_texts_;
};

// A model's output, read against its contract.
struct Reading {
  boost::json::object value;          // Set if there are no problems.
  std::vector<std::string> problems;  // What the model must correct.
  // The output held a JSON object or a list of objects, valid or not; false if it held only words.
  bool is_json = false;
};

// Finds the object in the output, whether it stands alone, in a code fence, or between other words, and
// checks it. It takes the first object, so that the text that was shown while the object was being written
// (live_text.h) never belongs to another one; object_finder.h says how an object differs from a brace among
// words. What follows the object is ignored. A document of another kind, a broken object and an object that
// is cut off are problems.
Reading read_output(Contract const& contract, std::string_view output);

}  // namespace runnel::flow

#pragma once

#include <boost/json/object.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runnel/base/json_schema.h"
#include "runnel/core/error.h"

namespace runnel::flow {

// What a stage's output must be (FLOW-4): a JSON Schema for an object, and rules between its fields. Unknown
// fields are ignored. It never changes; any thread may use it.
class Contract {
 public:
  // Where field `when` is `is`, `field` must be a text with something in it besides Unicode's white space.
  struct Rule {
    std::string when;
    std::string is;
    std::string field;
  };

  // Fails with `invalid` and a detail for the author: a schema that base::JsonSchema refuses, one that is not
  // for an object, a rule about a field that the schema has not.
  static Result<Contract> make(std::string name, boost::json::object schema, std::vector<Rule> rules);

  [[nodiscard]] std::string const& name() const { return name_; }
  // For the prompt: the schema as one line of JSON, its fields in the author's order.
  [[nodiscard]] std::string const& schema_text() const { return schema_text_; }
  [[nodiscard]] std::vector<std::string> const& rule_texts() const { return rule_texts_; }

  [[nodiscard]] bool has_field(std::string_view field) const;
  [[nodiscard]] bool requires_field(std::string_view field) const;
  // Whether a field can be nothing but a text, or null where that is allowed.
  enum class Null { refused, allowed };
  [[nodiscard]] bool is_text(std::string_view field, Null null) const;
  // The values that the schema's `enum` allows a field; empty: it has none, or one with other things than
  // texts that are not empty.
  [[nodiscard]] std::vector<std::string> choices(std::string_view field) const;

  // Empty: it fits. In words for the model that wrote it: "/route: must be one of …".
  // At most base::kMostViolations, none of them long, whatever the output holds.
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
  boost::json::object value;          // Where there are no problems.
  std::vector<std::string> problems;  // For the model: what to correct.
  bool is_json = false;  // It held a JSON object, or a list of them, right or wrong; false: words.
};

// Finds the object in the output, be it bare, in a code fence, or after and before other words, and checks
// it. It is the first one (object_finder.h says how it is told from a brace among words), so that text which
// was shown while it was being written (live_text.h) is never another one's; what follows it is not looked
// at. A document of another kind, a broken object and one that is cut off are problems.
Reading read_output(Contract const& contract, std::string_view output);

}  // namespace runnel::flow

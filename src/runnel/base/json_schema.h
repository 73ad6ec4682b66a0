#pragma once

#include <boost/json/fwd.hpp>

#include <memory>
#include <string>
#include <vector>

#include "runnel/core/error.h"

namespace runnel::base {

// One thing that is wrong with a document, in words for whoever sent it.
struct Violation {
  std::string path;  // A JSON pointer; empty: the document itself.
  std::string what;  // "is required", "must be a string" …
};

// "/messages/0/role: is required".
std::string to_string(Violation const& violation);

// No more are told of one document.
inline constexpr std::size_t kMostViolations = 20;

// A JSON Schema of draft 7 with OpenAPI 3.0's `nullable`, ready to check documents. It never changes; any
// thread may check with it.
class JsonSchema {
 public:
  // References are "#/definitions/NAME" or "#/components/schemas/NAME": into the schema's own `definitions`,
  // or else into `definitions`. Annotations count for nothing, `format` among them.
  //
  // Fails with `invalid` and a detail for the schema's author: on a keyword that would not be enforced, on a
  // malformed one, on a reference that leads nowhere or back to itself, and on what a hostile document could
  // turn against the process: `pattern` without a `maxLength` of at most 1024 (std::regex recurses for each
  // character) and `uniqueItems` without such a `maxItems`. Patterns are the author's to keep free of nested
  // repetition.
  static Result<JsonSchema> load(boost::json::value const& schema, boost::json::object const& definitions);

  // Empty: the document fits. Lengths are counted in characters; 1.0 is no integer.
  [[nodiscard]] std::vector<Violation> check(boost::json::value const& document) const;

 private:
  struct Compiled;
  explicit JsonSchema(std::shared_ptr<Compiled const> compiled);

  std::shared_ptr<Compiled const> compiled_;
};

}  // namespace runnel::base

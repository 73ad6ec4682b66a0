#pragma once

#include <boost/json/fwd.hpp>

#include <memory>
#include <string>
#include <vector>

#include "runnel/core/error.h"

namespace runnel::base {

// One thing that is wrong with a document, in words for the sender.
struct Violation {
  std::string path;  // A JSON pointer. Empty for the document itself.
  std::string what;  // Such as "is required" or "must be a string".
};

// "/messages/0/role: is required".
std::string to_string(Violation const& violation);

// At most this many violations are reported for one document.
inline constexpr std::size_t kMostViolations = 20;

// A JSON Schema of draft 7 with OpenAPI 3.0's `nullable`, ready to check documents. It never changes, and any
// thread may use it.
class JsonSchema {
 public:
  // A reference is "#/definitions/NAME" or "#/components/schemas/NAME". NAME is looked up in the schema's own
  // `definitions`, and then in the parameter `definitions`. Annotations are ignored, including `format`.
  //
  // Fails with `invalid` and a detail for the schema's author if a keyword is malformed or would not be
  // enforced, or if a reference leads nowhere or back to itself. It also refuses keywords that a hostile
  // document could use against the process: `pattern` without a `maxLength` of at most 1024 or with a
  // reference to a part of its own match, and `uniqueItems` without a `maxItems` of at most 1024.
  static Result<JsonSchema> load(boost::json::value const& schema, boost::json::object const& definitions);

  // Empty if the document is valid. Lengths are counted in characters. 1.0 does not count as an integer.
  [[nodiscard]] std::vector<Violation> check(boost::json::value const& document) const;

 private:
  struct Compiled;
  explicit JsonSchema(std::shared_ptr<Compiled const> compiled);

  std::shared_ptr<Compiled const> compiled_;
};

}  // namespace runnel::base

#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <cstddef>

#include "runnel/core/error.h"

namespace runnel::base {

// The longest string that meets a regular expression, and the longest list whose items are compared.
inline constexpr std::int64_t kMostExpensiveItems = 1024;

// A schema as JsonSchema needs it: `{"allOf":[SCHEMA],"definitions":{…}}`, plain draft 7, with known keywords
// only, all references into `definitions`, `nullable` written out, and each `pattern` behind an `if` that
// looks at the length first. Fails as JsonSchema::load.
Result<boost::json::object> make_schema_document(boost::json::value const& schema,
                                                 boost::json::object const& definitions);

}  // namespace runnel::base

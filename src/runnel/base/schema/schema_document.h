#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <cstddef>

#include "runnel/core/error.h"

namespace runnel::base {

// The longest string that is matched against a regular expression, and the longest list whose items are
// compared with each other.
inline constexpr std::int64_t kMostExpensiveItems = 1024;

// The schema in the form that JsonSchema needs: `{"allOf":[SCHEMA],"definitions":{…}}`. It is plain draft 7
// and has only known keywords. All references point into `definitions`, `nullable` is written out, and an
// `if` that checks the length stands before each `pattern`. Fails like JsonSchema::load.
Result<boost::json::object> make_schema_document(boost::json::value const& schema,
                                                 boost::json::object const& definitions);

}  // namespace runnel::base

#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <vector>

#include "runnel/base/schema/json_schema.h"
#include "runnel/base/schema/schema_pattern.h"

namespace runnel::base {

// What is wrong with a document that is not valid, in plain words. `schema` comes from make_schema_document.
// Stops at kMostViolations, so that a document with a million faults costs no more than one with twenty.
// `patterns` are those of the schema.
std::vector<Violation> explain(boost::json::object const& schema, boost::json::value const& document,
                               Patterns const& patterns);

}  // namespace runnel::base

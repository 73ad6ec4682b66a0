#pragma once

#include <boost/json/fwd.hpp>

namespace runnel::modules {

// The JSON Schema as OpenAPI 3.0 has it: one `example` in place of a list of `examples`.
boost::json::value to_openapi(boost::json::value const& schema);

}  // namespace runnel::modules

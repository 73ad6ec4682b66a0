#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runnel/api/router.h"
#include "runnel/base/clock.h"
#include "runnel/base/tokens/tool_credentials.h"
#include "runnel/modules/method.h"
#include "runnel/store/sql.h"

namespace runnel::modules {

struct ToolRouteParts {
  store::Sql& sql;
  base::Clock const& clock;
  base::ToolCredentials const& credentials;
  std::vector<Method> methods;
  std::int64_t storage_bytes_per_user = 0;  // 0 means no limit (HTTP-9).
  // What the program may print at most. A larger answer is refused before the method takes effect, so that
  // nothing happens of which the model cannot be told (TOOL-6). 0 means no limit.
  std::size_t output_bytes = 0;
};

// Adds POST /api/v1/tools/{module}/{method}, through which project_cli calls the methods (TOOL-2). The caller
// is whom the credential of the call names, and nothing in the request can change that (TOOL-9). The router
// must be one that only connections of project_cli reach. Except for `methods`, the parts outlive the router.
//
// The body is the method's input. A good answer is the method's data, with the status 207 if a part of a
// batch has failed. Everything else is {"error":{…}}, and then the call has not taken effect, unless the
// answer is 503: then nobody knows. The body must be the input that was recorded with the call. A call that
// has a receipt is answered with it. Throws std::logic_error if the schema of a method cannot be enforced.
void add_tool_route(api::Router& router, ToolRouteParts parts);

}  // namespace runnel::modules

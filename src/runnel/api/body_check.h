#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "runnel/api/message.h"
#include "runnel/api/openapi_contract.h"
#include "runnel/base/schema/json_schema.h"
#include "runnel/core/json/parse.h"

namespace runnel::api {

// Finds mistakes in the values of a JSON body that its schema cannot express.
using ValueCheck = std::function<std::vector<base::Violation>(std::string_view body)>;

// Whether a body counts as absent: it is empty, or it is `{}`, which many clients send to routes that take no
// body.
bool stands_for_none(std::string_view body);

// The refusal of a body with these faults, of which there is at least one (HTTP-1). For a handler whose check
// needs more than the body.
Response invalid_request(std::vector<base::Violation> const& violations);

// Parses the body if the operation takes one in JSON, and puts it into the request for the handler. If the
// body is not valid, returns the refusal, which names what is wrong and where (HTTP-1). It lists everything
// that the schema and `values` find, so that the caller learns of all mistakes at once. The request's
// Content-Type does not matter: stock clients send application/json, `curl -d` sends the type of a form, and
// only JSON is accepted.
std::optional<Response> take_body(Operation const& operation, JsonLimits limits, Request& request,
                                  ValueCheck const& values = {});

}  // namespace runnel::api

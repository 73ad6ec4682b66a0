#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "runnel/base/json_schema.h"
#include "runnel/core/json_parse.h"
#include "runnel/http/contract.h"
#include "runnel/http/message.h"

namespace runnel::http {

// What is wrong with the values of a body, a JSON document, beyond what its schema can say.
using ValueCheck = std::function<std::vector<base::Violation>(std::string_view body)>;

// Whether a body is as good as none: empty, or `{}`, which many clients send where nothing is asked for.
bool stands_for_none(std::string_view body);

// Parses the body where the operation takes one, so that the handler finds it in the request. Otherwise the
// refusal, which names what is wrong and where (HTTP-1): all that the schema and `values` find, so that
// nobody is told of one mistake after the other. What the request calls its body does not matter: stock
// clients say application/json, `curl -d` says a form, and JSON is all that is taken.
std::optional<Response> take_body(Operation const& operation, JsonLimits limits, Request& request,
                                  ValueCheck const& values = {});

}  // namespace runnel::http

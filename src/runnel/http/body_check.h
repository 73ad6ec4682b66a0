#pragma once

#include <cstddef>
#include <optional>

#include "runnel/http/contract.h"
#include "runnel/http/message.h"

namespace runnel::http {

// Parses the body where the operation takes one, so that the handler finds it in the request. Otherwise the
// refusal, which names what is wrong and where (HTTP-1). What the request calls its body does not matter:
// stock clients say application/json, `curl -d` says a form, and JSON is all that is taken.
std::optional<Response> take_body(Operation const& operation, std::size_t json_depth, Request& request);

}  // namespace runnel::http

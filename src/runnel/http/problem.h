#pragma once

#include <string_view>

#include "runnel/core/error.h"
#include "runnel/http/message.h"

namespace runnel::http {

// HTTP-2: {"error":{"code","message","details"}}. `details` must be one line of valid JSON.
Response problem(int status, std::string_view code, std::string_view message,
                 std::string_view details = "{}");

// The only place that maps an Errc to a status. The message is a general one: the detail goes to the log,
// with the request's id, and never to the client.
Response problem_from(Error const& error, std::string_view request_id);

}  // namespace runnel::http

#pragma once

#include <string_view>

#include "runnel/api/message.h"
#include "runnel/core/error.h"

namespace runnel::api {

// An error answer: {"error":{"code","message","details"}} (HTTP-2). `details` must be one line of valid JSON.
Response problem(int status, std::string_view code, std::string_view message,
                 std::string_view details = "{}");

// The only place that maps an Errc to a status. The client gets a general message and never the error's
// detail, which is logged with the request id.
Response problem_from(Error const& error, std::string_view request_id);

}  // namespace runnel::api

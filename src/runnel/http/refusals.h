#pragma once

#include <boost/system/error_code.hpp>

#include <optional>
#include <string_view>

#include "runnel/http/limits.h"
#include "runnel/http/message.h"

namespace runnel::http {

// Takes path and query from the request's target. Refuses what the parser lets pass and RFC 9112 does not,
// and encodings and expectations that no handler knows.
std::optional<Response> refuse_head(Request& request, bool http_1_1, std::string_view target);

// The answer to a request that could not be read; none where nobody waits for one.
std::optional<Response> refuse_unreadable(boost::system::error_code const& ec, Limits const& limits);

}  // namespace runnel::http

#pragma once

#include <boost/system/error_code.hpp>

#include <optional>
#include <string_view>

#include "runnel/api/message.h"
#include "runnel/http/connection/head_scan.h"
#include "runnel/http/connection/limits.h"

namespace runnel::http {

// Refuses a head whose fields, taken together, two servers may understand differently:
//
//   no Host (HTTP/1.1), two of them, or one that is not host[:port]               400
//   Content-Length twice or as a list, even if equal, or with Transfer-Encoding   400
//   Transfer-Encoding in HTTP/1.0, twice, or not ending in chunked                400
//   another coding before chunked, which would be valid                           501
//   an expectation other than 100-continue                                        417
//
// The connection closes after each of them, because it is not certain where the request ends.
std::optional<api::Response> refuse_head(api::Request const& request, bool http_1_1);

// Takes path and query from the request's target. Refuses the target with 400, and closes the connection, if
// it is not a path (nor "*" with OPTIONS), is badly encoded, has a query that is not text, or names an
// authority that is not the Host.
std::optional<api::Response> take_target(api::Request& request, std::string_view target);

// The answer to a head that is malformed, too large or of an unsupported version.
api::Response refuse_scanned(HeadScan::State state, Limits const& limits);

// The answer to a head or body that took too long.
api::Response refuse_late();

api::Response body_too_large(std::size_t limit);

// The answer to a request that could not be read; empty if nobody waits for one.
std::optional<api::Response> refuse_unreadable(boost::system::error_code const& ec, Limits const& limits);

}  // namespace runnel::http

#pragma once

#include <boost/system/error_code.hpp>

#include <optional>
#include <string_view>

#include "runnel/http/head_scan.h"
#include "runnel/http/limits.h"
#include "runnel/http/message.h"

namespace runnel::http {

// Takes path and query from the request's target. What the fields mean together, where two readers may
// differ:
//
//   no Host (HTTP/1.1), two of them, or one that is no host[:port]          400
//   an absolute target whose authority is not the Host                      400
//   Content-Length twice or as a list, even if equal, or with Transfer-Encoding   400
//   Transfer-Encoding in HTTP/1.0, twice, or not ending in chunked          400
//   another coding before chunked, which would be valid                     501
//   an expectation other than 100-continue                                  417
//   a target that is no path (nor, with OPTIONS, "*"), badly encoded, or
//     whose query is no text                                                400
//
// The connection closes after each: where a request ends is not certain.
std::optional<Response> refuse_head(Request& request, bool http_1_1, std::string_view target);

// The answer to a head that is malformed or too large.
Response refuse_scanned(HeadScan::State state, Limits const& limits);

// The answer to a head or body that took too long.
Response refuse_late();

Response body_too_large(std::size_t limit);

// The answer to a request that could not be read; none where nobody waits for one.
std::optional<Response> refuse_unreadable(boost::system::error_code const& ec, Limits const& limits);

}  // namespace runnel::http

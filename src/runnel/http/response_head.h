#pragma once

#include <string>
#include <string_view>

#include "runnel/http/message.h"

namespace runnel::http {

// What the request's own line and headers decide about its answer's head.
struct Exchange {
  std::string request_id;
  bool http_1_1 = true;
  bool keep_alive = true;
  bool head_only = false;
  Pairs more_headers{};  // What any answer to this request carries.
};

// The head of an answer with its blank line. A header whose name or value could break out of its line is left
// out.
std::string response_head(Response const& response, Exchange const& exchange);

// The head of an SSE answer (SSE-5). The connection ends with it; HTTP/1.1 gets chunks, so that a client can
// tell the end from a cut.
std::string stream_head(Exchange const& exchange);

}  // namespace runnel::http

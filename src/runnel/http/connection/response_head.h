#pragma once

#include <string>
#include <string_view>

#include "runnel/api/message.h"

namespace runnel::http {

// What the request line and the headers decide about the head of the answer.
struct Exchange {
  std::string request_id;
  bool http_1_1 = true;
  bool keep_alive = true;
  bool head_only = false;
  api::Pairs more_headers{};  // Headers that every answer to this request carries.
};

// The head of an answer, including its blank line. A header whose name or value would not stay on one line is
// left out.
std::string response_head(api::Response const& response, Exchange const& exchange);

// The head of an SSE answer (SSE-5). The connection closes when the stream ends. HTTP/1.1 gets chunks, so
// that a client can tell a stream that ended from one that was cut.
std::string stream_head(Exchange const& exchange);

// The head with which a connection becomes a WebSocket.
std::string web_socket_head(Exchange const& exchange, std::string_view accept);

}  // namespace runnel::http

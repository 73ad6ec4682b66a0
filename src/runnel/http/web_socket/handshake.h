#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "runnel/api/message.h"
#include "runnel/http/cors.h"

// How a request becomes a WebSocket (RFC 6455 4.2).
namespace runnel::http {

// Whether a page of this origin may open a WebSocket: one of this server, or one that `cors` allows (HTTP-8).
// A request without an Origin comes from no browser.
bool may_open_web_socket(api::Request const& request, Cors const& cors);

// The answer to a request for a route that is a WebSocket, if the request does not ask for one as it must.
std::optional<api::Response> refuse_handshake(api::Request const& request, Cors const& cors);

// The value of Sec-WebSocket-Accept for the request's key.
std::string accept_value(std::string_view key);

}  // namespace runnel::http

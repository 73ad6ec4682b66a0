#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "runnel/api/message.h"
#include "runnel/http/auth/authenticator.h"

namespace runnel::http {

// The dispatcher's answers to requests that reach no handler.

api::Response no_such_path();
api::Response wrong_method(std::string const& allow);
// The answer to `OPTIONS *`: every method that some route takes (RFC 9110 9.3.7).
api::Response server_options();
// The length of the body as the head announces it, so that the server does not wait for a body that it cannot
// use.
std::uint64_t announced_length(api::Request const& request);
api::Response no_body_taken();

api::Response repeated_parameter(std::string const& name);

// Tells the client whether to send a token, to get a new one, or to check how its token is made, and nothing
// more.
api::Response not_authenticated(Unidentified::Reason reason);
// The same answer for everything that can be wrong with a ticket, so that nobody learns which tickets exist.
api::Response invalid_ticket();

// A URL ends up in histories, logs and Referer headers. A token in it is refused with an error of its own, so
// that no client relies on it.
bool has_token_in_url(api::Request const& request);
api::Response token_in_url();

api::Response too_many_requests(std::chrono::seconds wait);
api::Response too_many_streams(std::int64_t limit);
api::Response too_many_body_bytes(std::int64_t limit);
api::Response too_many_answer_bytes(std::int64_t limit);
api::Response server_full_of_bodies();

}  // namespace runnel::http

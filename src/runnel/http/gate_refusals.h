#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "runnel/http/authenticator.h"
#include "runnel/http/message.h"

namespace runnel::http {

// What the dispatcher says to a request that no handler gets to see.

Response no_such_path();
Response wrong_method(std::string const& allow);
// To `OPTIONS *`: what some route takes (RFC 9110 9.3.7).
Response server_options();
// Told by the head: nobody is waited for whose body is of no use.
std::uint64_t announced_length(Request const& request);
Response no_body_taken();

Response repeated_parameter(std::string const& name);

// The client learns whether to send a token, to get a new one, or to look at how it is made; not more.
Response not_authenticated(Unidentified::Reason reason);
// The same for all that is wrong with one: nobody learns which tickets there are.
Response invalid_ticket();

// A URL ends up in histories, logs and Referer headers. Refused aloud, so that nobody builds on it.
bool has_token_in_url(Request const& request);
Response token_in_url();

Response too_many_requests(std::chrono::seconds wait);
Response too_many_streams(std::int64_t limit);
Response too_many_body_bytes(std::int64_t limit);
Response too_many_answer_bytes(std::int64_t limit);
Response server_full_of_bodies();

}  // namespace runnel::http

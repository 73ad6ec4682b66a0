#pragma once

#include <string_view>

namespace runnel::http {

// Whether a Host header names this machine: localhost, a name under .localhost (RFC 6761: never looked up
// outside), 127.0.0.0/8 or [::1], each with or without a port. A foreign name that resolves to loopback (DNS
// rebinding) does not.
bool is_loopback_host(std::string_view host);

// Whether an Origin header is an http or https page from such a host.
bool is_loopback_origin(std::string_view origin);

}  // namespace runnel::http

#pragma once

#include <string_view>

namespace runnel::http {

// Whether a Host header names this machine: localhost, a name under .localhost (RFC 6761: such names are
// never looked up outside), 127.0.0.0/8 or [::1], each with or without a port. A foreign name that resolves
// to loopback (DNS rebinding) does not count.
bool is_loopback_host(std::string_view host);

// Whether an Origin header names an http or https page on such a host.
bool is_loopback_origin(std::string_view origin);

}  // namespace runnel::http

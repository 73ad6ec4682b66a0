#pragma once

#include <cstdint>
#include <string>

#include "runnel/core/error.h"

namespace runnel::app {

struct ListenAddress {
  std::string host;
  std::uint16_t port = 0;
};

// "127.0.0.1:8080", "[::1]:8080", "localhost:8080". Fails with `invalid` on anything else.
Result<ListenAddress> parse_listen(std::string const& text);

bool is_loopback(ListenAddress const& address);

// "http://127.0.0.1:8080", "http://[::1]:8080".
std::string to_url(ListenAddress const& address);

// "127.0.0.1:8080", "[::1]:8080".
std::string to_text(ListenAddress const& address);

}  // namespace runnel::app

#include "runnel/app/settings/listen_address.h"

#include <boost/asio/ip/address.hpp>
#include <fmt/format.h>

#include <charconv>

namespace runnel::app {

Result<ListenAddress> parse_listen(std::string const& text) {
  Error const wrong{Errc::invalid,
                    fmt::format("listen address '{}' must be HOST:PORT, e.g. 127.0.0.1:8080", text)};
  auto const colon = text.rfind(':');
  if (colon == std::string::npos) return wrong;
  auto const port = text.substr(colon + 1);
  if (port.empty() || port.find_first_not_of("0123456789") != std::string::npos) return wrong;
  ListenAddress address;
  auto const [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (error != std::errc{}) {
    return Error{Errc::invalid,
                 fmt::format("listen address '{}': port {} is not between 0 and 65535", text, port)};
  }

  address.host = text.substr(0, colon);
  if (address.host.starts_with('[') && address.host.ends_with(']')) {
    address.host = address.host.substr(1, address.host.size() - 2);
  }
  boost::system::error_code bad;
  boost::asio::ip::make_address(address.host, bad);
  if (bad && address.host != "localhost") return wrong;
  return address;
}

bool is_loopback(ListenAddress const& address) {
  if (address.host == "localhost") return true;
  return boost::asio::ip::make_address(address.host).is_loopback();
}

std::string to_url(ListenAddress const& address) {
  return "http://" + to_text(address);
}

std::string to_text(ListenAddress const& address) {
  bool const v6 = address.host.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", v6 ? "[" : "", address.host, v6 ? "]" : "", address.port);
}

}  // namespace runnel::app

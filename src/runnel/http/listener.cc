#include "runnel/http/listener.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <tuple>
#include <utility>

#include "runnel/base/log.h"

namespace runnel::http {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {
// Out of descriptors or memory: asking again at once would only burn the CPU.
constexpr std::chrono::milliseconds kBackOff{100};
}  // namespace

Listener::Listener(base::Cores& cores, OnConnection on_connection)
    : cores_{cores},
      on_connection_{std::move(on_connection)},
      acceptor_{cores.at(0)},
      back_off_{cores.at(0)} {}

Result<std::uint16_t> Listener::open(std::string const& host, std::uint16_t port) {
  error_code ec;
  auto const address = asio::ip::make_address(host == "localhost" ? "127.0.0.1" : host, ec);
  if (ec) return Error{Errc::invalid, "not an IP address to listen on: " + host};

  asio::ip::tcp::endpoint const endpoint{address, port};
  acceptor_.open(endpoint.protocol(), ec);
  if (!ec) acceptor_.set_option(asio::socket_base::reuse_address(true), ec);
  if (!ec) acceptor_.bind(endpoint, ec);
  if (!ec) acceptor_.listen(asio::socket_base::max_listen_connections, ec);
  if (!ec) port = acceptor_.local_endpoint(ec).port();
  if (ec) {
    error_code ignored;
    acceptor_.close(ignored);
    return Error{Errc::unavailable,
                 "cannot listen on " + host + ":" + std::to_string(port) + ": " + ec.message()};
  }
  return port;
}

asio::awaitable<void> Listener::run() {
  std::size_t core = 0;
  bool failing = false;
  while (acceptor_.is_open()) {
    Socket socket{cores_.at(core)};
    auto const [ec] = co_await acceptor_.async_accept(socket, asio::as_tuple(asio::use_awaitable));
    if (!ec) {
      failing = false;
      error_code ignored;
      socket.set_option(asio::ip::tcp::no_delay(true), ignored);
      on_connection_(core, std::move(socket));
      core = (core + 1) % cores_.size();
      continue;
    }
    if (!acceptor_.is_open() || ec == asio::error::connection_aborted) continue;
    if (!failing) base::log(base::LogLevel::warn, "cannot accept connections", {{"detail", ec.message()}});
    failing = true;
    back_off_.expires_after(kBackOff);
    co_await back_off_.async_wait(asio::as_tuple(asio::use_awaitable));
  }
}

void Listener::close() {
  error_code ignored;
  acceptor_.close(ignored);
  back_off_.cancel();
}

}  // namespace runnel::http

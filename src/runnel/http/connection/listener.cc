#include "runnel/http/connection/listener.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <sys/socket.h>

#include <cerrno>
#include <tuple>
#include <utility>

#include "runnel/base/descriptor.h"
#include "runnel/base/log/log.h"

namespace runnel::http {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {
// The pause when the system has no descriptors or memory left: trying again at once would only waste CPU
// time.
constexpr std::chrono::milliseconds kBackOff{100};

// How many new connections may be on their way beyond the caps, and how long the listener pauses when there
// are more.
constexpr std::size_t kMaxOnTheirWay = 64;
constexpr std::chrono::milliseconds kBreath{1};

// How many connections are accepted at once, before core 0 does its other work.
constexpr int kBatch = 16;
}  // namespace

Listener::Listener(base::Cores& cores, ConnectionCount const& count, ConnectionAdmission& admission)
    : cores_{cores}, count_{count}, admission_{admission}, acceptor_{cores.at(0)}, back_off_{cores.at(0)} {}

Result<std::uint16_t> Listener::open(std::string const& host, std::uint16_t port) {
  error_code ec;
  auto const address = asio::ip::make_address(host == "localhost" ? "127.0.0.1" : host, ec);
  if (ec) return Error{Errc::invalid, "not an IP address to listen on: " + host};

  asio::ip::tcp::endpoint const endpoint{address, port};
  open_socket(endpoint.protocol(), ec);
  if (!ec) acceptor_.set_option(asio::socket_base::reuse_address(true), ec);
  if (!ec) acceptor_.bind(endpoint, ec);
  if (!ec) acceptor_.listen(asio::socket_base::max_listen_connections, ec);
  if (!ec) acceptor_.non_blocking(true, ec);
  if (!ec) port = acceptor_.local_endpoint(ec).port();
  if (ec) {
    error_code ignored;
    acceptor_.close(ignored);
    auto const where = host + ":" + std::to_string(port);
    if (ec == asio::error::address_in_use) return Error{Errc::conflict, where + " is in use"};
    return Error{Errc::unavailable, "cannot listen on " + where + ": " + ec.message()};
  }
  return port;
}

// Sockets that Asio opens and accepts would be inherited by programs that tools start, so they are opened and
// accepted here with CLOEXEC.
void Listener::open_socket(asio::ip::tcp protocol, error_code& ec) {
  base::Descriptor descriptor{::socket(protocol.family(), SOCK_STREAM | SOCK_CLOEXEC, 0)};
  if (!descriptor.is_open()) {
    ec.assign(errno, boost::system::system_category());
    return;
  }
  acceptor_.assign(protocol, descriptor.get(), ec);
  if (!ec) descriptor.release();
  protocol_ = protocol;
}

error_code Listener::take_next(Socket& socket) {
  base::Descriptor descriptor{::accept4(acceptor_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC)};
  if (!descriptor.is_open()) return {errno, boost::system::system_category()};
  error_code ec;
  socket.assign(protocol_, descriptor.get(), ec);
  if (!ec) descriptor.release();
  return ec;
}

asio::awaitable<void> Listener::run() {
  bool failing = false;
  while (acceptor_.is_open()) {
    if (count_.is_crowded(kMaxOnTheirWay)) {
      co_await pause(kBreath);
      continue;
    }
    auto [ec] =
        co_await acceptor_.async_wait(asio::socket_base::wait_read, asio::as_tuple(asio::use_awaitable));
    if (!ec) ec = take_waiting();
    if (!ec) {
      failing = false;
      continue;
    }
    if (!acceptor_.is_open()) continue;
    if (!failing) base::log(base::LogLevel::warn, "cannot accept connections", {{"detail", ec.message()}});
    failing = true;
    co_await pause(kBackOff);
  }
}

// Accepts some of the connections that wait. An error means that trying to accept more is useless for the
// moment.
error_code Listener::take_waiting() {
  for (int i = 0; i < kBatch; ++i) {
    Socket socket{cores_.at(core_)};
    auto const ec = take_next(socket);
    if (ec == asio::error::would_block || ec == asio::error::try_again) return {};
    if (ec == asio::error::connection_aborted || ec == asio::error::interrupted) continue;
    if (ec) return ec;
    take(std::move(socket));
  }
  return {};
}

void Listener::take(Socket socket) {
  error_code ignored;
  socket.set_option(asio::ip::tcp::no_delay(true), ignored);
  admission_.admit(core_, std::move(socket));
  core_ = (core_ + 1) % cores_.size();
}

asio::awaitable<void> Listener::pause(std::chrono::milliseconds duration) {
  back_off_.expires_after(duration);
  co_await back_off_.async_wait(asio::as_tuple(asio::use_awaitable));
}

void Listener::close() {
  error_code ignored;
  acceptor_.close(ignored);
  back_off_.cancel();
}

}  // namespace runnel::http

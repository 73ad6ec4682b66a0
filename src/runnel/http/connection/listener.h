#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <chrono>
#include <cstdint>
#include <string>

#include "runnel/base/cores.h"
#include "runnel/core/error.h"
#include "runnel/http/connection/connection_admission.h"
#include "runnel/http/connection/connection_count.h"
#include "runnel/http/connection/socket.h"

namespace runnel::http {

// Accepts connections on core 0 and distributes them to the cores in turn. It pauses while too many
// connections above the caps are still on their way to a core where room is made for them.
class Listener {
 public:
  Listener(base::Cores& cores, ConnectionCount const& count, ConnectionAdmission& admission);

  // `host` is an IP address or "localhost"; port 0 takes a free one. Returns the port. Fails with `invalid`
  // if the host is not an address, with `conflict` if the port is in use, and with `unavailable` if the
  // system refuses.
  Result<std::uint16_t> open(std::string const& host, std::uint16_t port);

  // Runs until close() is called.
  boost::asio::awaitable<void> run();

  // Call this on core 0.
  void close();

 private:
  using Acceptor =
      boost::asio::basic_socket_acceptor<boost::asio::ip::tcp, boost::asio::io_context::executor_type>;
  using Timer = boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                                  boost::asio::wait_traits<std::chrono::steady_clock>,
                                                  boost::asio::io_context::executor_type>;

  void open_socket(boost::asio::ip::tcp protocol, boost::system::error_code& ec);
  void take(Socket socket);
  boost::system::error_code take_waiting();
  boost::system::error_code take_next(Socket& socket);
  boost::asio::awaitable<void> pause(std::chrono::milliseconds duration);

  base::Cores& cores_;
  ConnectionCount const& count_;
  ConnectionAdmission& admission_;
  std::size_t core_ = 0;  // The core of the next connection.
  Acceptor acceptor_;
  boost::asio::ip::tcp protocol_ = boost::asio::ip::tcp::v4();
  Timer back_off_;
};

}  // namespace runnel::http

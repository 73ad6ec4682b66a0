#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "runnel/base/cores.h"
#include "runnel/core/error.h"
#include "runnel/http/census.h"
#include "runnel/http/socket.h"

namespace runnel::http {

// Takes connections on core 0 and deals them out to the cores in turn. While more are open than the census
// allows, because newcomers are still on their way to where room is made for them, it takes no more.
class Listener {
 public:
  // Called on core 0; the socket belongs to the core of that index.
  using OnConnection = std::function<void(std::size_t core, Socket socket)>;

  Listener(base::Cores& cores, Census const& census, OnConnection on_connection);

  // `host` is an IP address or "localhost"; port 0 takes a free one. The port, or `invalid` for a host that
  // is no address, `conflict` where the port is taken, `unavailable` where the system refuses.
  Result<std::uint16_t> open(std::string const& host, std::uint16_t port);

  // Until close().
  boost::asio::awaitable<void> run();

  // On core 0.
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
  Census const& census_;
  OnConnection const on_connection_;
  std::size_t core_ = 0;  // Of the next connection.
  Acceptor acceptor_;
  boost::asio::ip::tcp protocol_ = boost::asio::ip::tcp::v4();
  Timer back_off_;
};

}  // namespace runnel::http

#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "runnel/http/roster.h"
#include "runnel/http/socket.h"

namespace runnel::http {

// A connection's socket while requests are served on it. Each operation has a deadline, which is the
// roster's: no timer per operation. Lives on the roster's core.
class TimedSocket final : public Member {
 public:
  TimedSocket(Socket socket, Roster& roster);
  TimedSocket(TimedSocket const&) = delete;
  TimedSocket& operator=(TimedSocket const&) = delete;
  ~TimedSocket() { roster_.leave(*this); }

  // The socket itself, for what needs no deadline and for whoever takes it over.
  [[nodiscard]] Socket& get() { return socket_; }
  // Whether the last operation ended because its time was over.
  [[nodiscard]] bool expired() const { return expired_; }

  // Reading, in as many steps as it takes, has one deadline. The server's stop ends the input.
  void begin_reading(std::chrono::milliseconds deadline);
  void end_reading();
  // One step; `got` is what it brought. The end of the input is eof, a deadline operation_aborted.
  boost::asio::awaitable<boost::system::error_code> read_some(boost::asio::mutable_buffer room,
                                                              std::size_t* got);

  // All of it. False: it was not taken in time, and the socket is closed, or the client is gone.
  boost::asio::awaitable<bool> send(std::string_view head, std::string_view body, std::string_view tail);

  // Reads what the client still sends, for a moment, and throws it away.
  boost::asio::awaitable<void> discard_input(boost::asio::mutable_buffer scratch);

  void on_tick() override;
  void end_stream() override {}  // Who replays a stream sees for himself that the roster drains.
  void stop() override;

 private:
  void arm(std::chrono::milliseconds duration);
  void disarm() { armed_ = false; }
  void abandon();

  Socket socket_;
  Roster& roster_;
  std::chrono::milliseconds allowed_{0};
  std::uint32_t armed_at_ = 0;
  bool armed_ = false;
  bool expired_ = false;
  bool reading_ = false;
};

}  // namespace runnel::http

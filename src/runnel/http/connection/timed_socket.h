#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "runnel/http/connection/core_sessions.h"
#include "runnel/http/connection/socket.h"

namespace runnel::http {

// A connection's socket while requests are served on it. Each operation has a deadline, which is checked at
// the ticks of the core's sessions, without a timer per operation. Lives on that core.
class TimedSocket final : public Session {
 public:
  TimedSocket(Socket socket, CoreSessions& sessions);
  TimedSocket(TimedSocket const&) = delete;
  TimedSocket& operator=(TimedSocket const&) = delete;
  ~TimedSocket() { sessions_.leave(*this); }

  // The socket itself, for operations that need no deadline and for whoever takes it over.
  [[nodiscard]] Socket& get() { return socket_; }
  // Whether the last operation ended because its deadline had passed.
  [[nodiscard]] bool expired() const { return expired_; }

  // A read has one deadline for all its steps. If the server stops, the input ends.
  void begin_reading(std::chrono::milliseconds deadline);
  void end_reading();
  // One step of a read; `got` is set to the number of bytes. Returns eof at the end of the input and
  // operation_aborted after the deadline.
  boost::asio::awaitable<boost::system::error_code> read_some(boost::asio::mutable_buffer room,
                                                              std::size_t* got);

  // Sends everything. False if the client has not taken it in time, in which case the socket is closed, or if
  // the client is gone.
  boost::asio::awaitable<bool> send(std::string_view head, std::string_view body, std::string_view tail);

  // Reads what the client still sends, for a short time, and discards it.
  boost::asio::awaitable<void> discard_input(boost::asio::mutable_buffer scratch);

  void on_tick() override;
  void end_stream() override {}  // A replay itself checks whether the server is draining.
  void stop() override;

 private:
  void arm(std::chrono::milliseconds duration);
  void disarm() { armed_ = false; }
  void abandon();

  Socket socket_;
  CoreSessions& sessions_;
  std::chrono::milliseconds allowed_{0};
  std::uint32_t armed_at_ = 0;
  bool armed_ = false;
  bool expired_ = false;
  bool reading_ = false;
};

}  // namespace runnel::http

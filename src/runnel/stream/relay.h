#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runnel/stream/subscriber.h"

namespace runnel::stream {

// A reader's handle in its channel; 0 is none.
using ReaderId = std::uint64_t;

// The live readers of one run and dialect on one core, touched by that core only.
//
// Each frame costs a write for each reader. Where frames come faster than a wide fan-out should, they share
// one: after it the next waits five times as long as it took, so that no run takes much more than a sixth of
// a core, and never so long that a person could see it. A narrow fan-out never waits.
class Relay : public std::enable_shared_from_this<Relay> {
 public:
  explicit Relay(boost::asio::io_context& context) : timer_{context} {}
  Relay(Relay const&) = delete;
  Relay& operator=(Relay const&) = delete;

  // The reader gets `first`, which holds all that was sent before, and then all that is sent from now on.
  void add(ReaderId id, std::shared_ptr<Subscriber> subscriber, Bytes const& first);
  void remove(ReaderId id);
  void send(Bytes frames);
  // What is held goes out before.
  void close(CloseReason reason);

 private:
  using Clock = std::chrono::steady_clock;

  void hold(Bytes const& frames);
  void release();
  void fan_out(Bytes const& frames);

  std::vector<std::pair<ReaderId, std::shared_ptr<Subscriber>>> readers_;
  boost::asio::steady_timer timer_;
  Clock::time_point next_at_{};
  std::string held_;
  bool waiting_ = false;
};

}  // namespace runnel::stream

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

// A reader's handle in its channel; 0 means none.
using ReaderId = std::uint64_t;

// The live readers of one run and wire on one core, touched by that core only.
//
// Each frame costs one write per reader. If frames come too fast for a wide fan-out, several share one: after
// a fan-out, the next one waits five times as long as it took, so that no run takes much more than a sixth of
// a core. The wait is never so long that a person could notice it. A narrow fan-out never waits.
class Relay : public std::enable_shared_from_this<Relay> {
 public:
  explicit Relay(boost::asio::io_context& context) : timer_{context} {}
  Relay(Relay const&) = delete;
  Relay& operator=(Relay const&) = delete;

  // The reader gets `first`, which contains what it still needs of everything sent before, and then
  // everything that is sent later.
  void add(ReaderId id, std::shared_ptr<Subscriber> subscriber, SharedFrames const& first);
  void remove(ReaderId id);
  void send(SharedFrames frames);
  // Sends the held frames first.
  void close(CloseReason reason);
  void close_one(ReaderId id, CloseReason reason);

 private:
  using Clock = std::chrono::steady_clock;

  void hold(SharedFrames const& frames);
  void release();
  void fan_out(SharedFrames const& frames);

  std::vector<std::pair<ReaderId, std::shared_ptr<Subscriber>>> readers_;
  boost::asio::steady_timer timer_;
  Clock::time_point next_at_{};
  Frames held_;
  bool waiting_ = false;
};

}  // namespace runnel::stream

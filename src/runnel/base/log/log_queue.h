#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

namespace runnel::base {

// A queue of lines to be written to a descriptor. Any thread may push lines and never waits for the
// descriptor: the queue's own thread writes them in the order in which they were pushed, and holds no lock
// while it writes. A line for which there is no room is dropped and counted. As soon as something can be
// written again, one line says how many were dropped.
class LogQueue {
 public:
  // Makes the line that says how many lines were dropped.
  using Report = std::function<std::string(std::int64_t dropped)>;

  // At most `most_bytes` may wait. The same amount again may be in the middle of a write.
  LogQueue(int descriptor, std::size_t most_bytes, Report report);
  LogQueue(LogQueue const&) = delete;
  LogQueue& operator=(LogQueue const&) = delete;
  // Stops with a patience of zero.
  ~LogQueue();

  void push(std::string_view line);

  // Writes the waiting lines, for at most `patience`, and ends the thread. Returns false if the descriptor
  // did not accept everything in time. In that case the thread stays behind in its write, which ends with the
  // process, and the lines that still wait are dropped. Call it once.
  bool stop(std::chrono::milliseconds patience);

  // How many lines all queues have dropped since the process began.
  static std::int64_t dropped();

 private:
  struct State;

  std::shared_ptr<State> state_;  // Shared with the thread, which may outlive the queue.
  std::thread thread_;
};

// Writes all bytes, and waits for as long as that takes. Returns how many bytes the descriptor accepted,
// which is fewer than all if the descriptor is broken.
std::size_t write_fully(int descriptor, std::string_view bytes);

}  // namespace runnel::base

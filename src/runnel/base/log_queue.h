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

// Lines on their way to a descriptor. Any thread puts lines in and never waits for the descriptor: one thread
// of the queue's own writes them, in the order in which they came, and holds no lock while it does. A line
// for which there is no room is dropped and counted. Where lines were dropped, one line says how many, as
// soon as something can be written again.
class LogQueue {
 public:
  // The line that tells of dropped ones.
  using Report = std::function<std::string(std::int64_t dropped)>;

  // `most_bytes` is what may wait; as much again may be on its way to the descriptor.
  LogQueue(int descriptor, std::size_t most_bytes, Report report);
  LogQueue(LogQueue const&) = delete;
  LogQueue& operator=(LogQueue const&) = delete;
  // Stops without patience.
  ~LogQueue();

  void push(std::string_view line);

  // Writes what waits, for at most `patience`, and ends the thread. False: the descriptor did not take it all
  // in time; the thread is left behind in its write, which ends with the process, and what still waits is
  // dropped. Once.
  bool stop(std::chrono::milliseconds patience);

  // Since the process began, by all queues.
  static std::int64_t dropped();

 private:
  struct State;

  std::shared_ptr<State> state_;  // Also the thread's, which may outlive the queue.
  std::thread thread_;
};

// Writes all of it, and waits for as long as that takes. Returns how many bytes the descriptor took: fewer
// than all where it is broken.
std::size_t write_fully(int descriptor, std::string_view bytes);

}  // namespace runnel::base

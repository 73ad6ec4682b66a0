#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace runnel::bench {

struct LoadOptions {
  std::uint16_t port = 0;             // On 127.0.0.1.
  std::vector<std::string> messages;  // Complete requests. Each connection always sends the same, in turn.
  std::size_t connections = 1;
  std::size_t requests = 1;
  bool keep_alive =
      false;  // If false, each request has a new connection, and connecting is part of the time.
  std::chrono::milliseconds every{
      0};                  // The time between two requests of a connection. 0: as soon as answered.
  std::string until;       // An answer is read until its body contains this; if empty, to its end.
  std::string count;       // A text to count in the bodies.
  bool say_ready = false;  // Prints a line `ready` when each connection has the head of its first answer.
};

struct LoadResult {
  std::map<int, std::size_t> statuses;
  std::size_t failed = 0;  // Connections that broke before their answer was read.
  double wall_s = 0;
  std::vector<double> latencies_us;  // From the request, or the connect before it, to the answer's last byte.
  std::size_t body_bytes = 0;
  std::size_t counted = 0;
  std::size_t reads = 0;  // How many reads returned bytes.
};

// Sends the same requests again and again, with one thread. Each connection sends its next request when the
// last one is answered, or at its time; then connections begin one after the other within the first period.
// Throws std::runtime_error if the system refuses a socket or a connection.
LoadResult run_load(LoadOptions const& options);

}  // namespace runnel::bench

#pragma once

#include <chrono>
#include <cstddef>

namespace runnel::http {

// The limits of one connection, and of all connections together (HTTP-6, HTTP-9, SSE-5, SSE-6).
struct Limits {
  std::size_t header_bytes = std::size_t{16} * 1024;
  std::size_t body_bytes = std::size_t{4} * 1024 * 1024;
  std::size_t small_body_bytes = std::size_t{64} * 1024;  // For bodies without a message.
  std::size_t json_depth = 64;
  std::size_t json_values = 20'000;                               // Values and keys in one body.
  std::size_t subscriber_buffer_bytes = std::size_t{256} * 1024;  // An SSE reader further behind is cut.
  int send_buffer_bytes = 128 * 1024;  // What the kernel may hold for a slow reader.

  std::size_t min_read_rate = std::size_t{16} * 1024;  // Bytes per second; see answer_deadline.

  std::size_t max_connections = 10'000;
  std::size_t max_silent_connections = 2048;  // Those whose first request has not arrived.

  std::chrono::milliseconds header_deadline{10'000};
  std::chrono::milliseconds body_deadline{30'000};
  std::chrono::milliseconds idle_timeout{60'000};   // Between two requests of a connection.
  std::chrono::milliseconds write_timeout{20'000};  // Until a reader takes any more bytes.
  std::chrono::milliseconds keep_alive{15'000};     // The longest silence on an SSE stream.
  std::chrono::milliseconds stop_grace{2'000};      // For an answer in progress when the server stops.
  std::chrono::milliseconds tick{1'000};            // The precision of all these times.

  // How long a reader may take for all `bytes`, so that taking a byte now and then does not hold an answer
  // forever.
  [[nodiscard]] std::chrono::milliseconds answer_deadline(std::size_t bytes) const {
    return write_timeout + std::chrono::milliseconds{bytes * 1000 / min_read_rate};
  }
};

}  // namespace runnel::http

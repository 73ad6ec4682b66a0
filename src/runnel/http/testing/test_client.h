#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

#include "runnel/base/descriptor.h"

namespace runnel::http {

// A blocking client for tests that sees every byte. If the server sends nothing for 10 s, a read fails.
class TestClient {
 public:
  struct Options {
    int receive_buffer_bytes = 0;  // 0 leaves it to the system.
  };

  explicit TestClient(std::uint16_t port) : TestClient(port, Options{}) {}
  // On a socket that is connected; the client closes it.
  explicit TestClient(base::Descriptor connected) : socket_{connected.release()}, connected_{true} {
    timeval const patience{10, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }
  TestClient(std::uint16_t port, Options options) : socket_{::socket(AF_INET, SOCK_STREAM, 0)} {
    timeval const patience{10, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (options.receive_buffer_bytes > 0) {
      ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &options.receive_buffer_bytes, sizeof(int));
    }
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  TestClient(TestClient const&) = delete;
  TestClient& operator=(TestClient const&) = delete;
  ~TestClient() { close(); }

  [[nodiscard]] bool connected() const { return connected_; }

  void close() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
  }

  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      auto const sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }

  // Ends the sending side; answers can still be read.
  void half_close() { ::shutdown(socket_, SHUT_WR); }

  // All bytes up to and including `marker`.
  std::string read_until(std::string_view marker) {
    for (;;) {
      auto const at = buffer_.find(marker);
      if (at != std::string::npos) return take(at + marker.size());
      if (!fill()) throw std::runtime_error("closed before '" + std::string{marker} + "', after: " + buffer_);
    }
  }

  std::string read_bytes(std::size_t count) {
    while (buffer_.size() < count) {
      if (!fill()) throw std::runtime_error("closed after: " + buffer_);
    }
    return take(count);
  }

  // All bytes until the server closes the connection, in an orderly way or not.
  std::string read_to_end() {
    while (fill()) {
    }
    return take(buffer_.size());
  }

  // The chunks of a stream, with the last one, or until the server closes the connection.
  std::string read_stream() {
    while (!buffer_.ends_with("0\r\n\r\n") && fill()) {
    }
    return take(buffer_.size());
  }

  struct Answer {
    int status = 0;
    std::string head;
    std::string body;
    [[nodiscard]] bool has(std::string_view text) const { return head.find(text) != std::string::npos; }
  };

  Answer read_head() {
    Answer out;
    out.head = read_until("\r\n\r\n");
    out.status = std::atoi(out.head.substr(9, 3).c_str());
    return out;
  }

  // An answer with a Content-Length, or without a body.
  Answer read_answer() {
    auto out = read_head();
    constexpr std::string_view kLength = "Content-Length: ";
    auto const at = out.head.find(kLength);
    if (at != std::string::npos) {
      out.body = read_bytes(std::strtoul(out.head.c_str() + at + kLength.size(), nullptr, 10));
    }
    return out;
  }

  Answer ask(std::string_view request) {
    send(request);
    return read_answer();
  }

 private:
  bool fill() {
    std::array<char, 65536> bytes{};
    auto const got = ::recv(socket_, bytes.data(), bytes.size(), 0);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
      throw std::runtime_error("silent for 10 s: " + buffer_);
    if (got <= 0) return false;
    buffer_.append(bytes.data(), static_cast<std::size_t>(got));
    return true;
  }

  std::string take(std::size_t count) {
    auto out = buffer_.substr(0, count);
    buffer_.erase(0, count);
    return out;
  }

  int socket_;
  bool connected_ = false;
  std::string buffer_;
};

}  // namespace runnel::http

#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "runnel/base/descriptor.h"

namespace runnel::net {

// One connection as the server of a test sees it, byte by byte. All calls block.
class Visit {
 public:
  Visit(int socket, std::size_t number, SSL_CTX* tls) : number_{number}, socket_{socket} {
    if (tls == nullptr) return;
    tls_.reset(SSL_new(tls));
    SSL_set_fd(tls_.get(), socket);
    SSL_accept(tls_.get());
  }

  [[nodiscard]] std::size_t number() const { return number_; }  // From 1, in the order of connecting.

  // A whole request with its body. Empty if the client has closed the connection.
  std::string read_request() {
    for (;;) {
      if (auto const size = request_size(); size > 0 && buffer_.size() >= size) {
        auto request = buffer_.substr(0, size);
        buffer_.erase(0, size);
        return request;
      }
      if (!fill()) return {};
    }
  }

  // False if the client has closed the connection.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      auto const sent = tls_ ? SSL_write(tls_.get(), bytes.data(), static_cast<int>(bytes.size()))
                             : ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  bool answer(std::string const& body, std::string const& more = "") {
    return send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + more + "\r\n" +
                body);
  }

  // Blocks until the client closes the connection.
  void wait_for_close() {
    while (fill()) {
    }
  }

  void break_off() { ::shutdown(socket_.get(), SHUT_RDWR); }

 private:
  [[nodiscard]] std::size_t request_size() const {
    auto const end = buffer_.find("\r\n\r\n");
    if (end == std::string::npos) return 0;
    auto const length = buffer_.find("Content-Length: ");
    return end + 4 + (length < end ? std::strtoul(buffer_.c_str() + length + 16, nullptr, 10) : 0);
  }

  bool fill() {
    std::array<char, 16384> bytes{};
    auto const got = tls_ ? SSL_read(tls_.get(), bytes.data(), static_cast<int>(bytes.size()))
                          : ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
    if (got <= 0) return false;
    buffer_.append(bytes.data(), static_cast<std::size_t>(got));
    return true;
  }

  std::size_t number_;
  base::Descriptor socket_;
  std::unique_ptr<SSL, decltype(&SSL_free)> tls_{nullptr, &SSL_free};
  std::string buffer_;
};

// A server for tests on a free port of 127.0.0.1. Each connection is handed to the script in its own thread,
// and closed when the script returns.
class TestUpstream {
 public:
  using Script = std::function<void(Visit&)>;

  explicit TestUpstream(Script script, SSL_CTX* tls = nullptr)
      : script_{std::move(script)}, tls_{tls}, listening_{::socket(AF_INET, SOCK_STREAM, 0)} {
    std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes without MSG_NOSIGNAL.
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ::bind(listening_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address);
    ::listen(listening_.get(), 256);
    socklen_t size = sizeof address;
    ::getsockname(listening_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    accepting_ = std::thread{[this] { accept_all(); }};
  }
  TestUpstream(TestUpstream const&) = delete;
  TestUpstream& operator=(TestUpstream const&) = delete;
  ~TestUpstream() {
    ::shutdown(listening_.get(), SHUT_RDWR);
    accepting_.join();
    {
      std::lock_guard const lock{mutex_};
      for (auto* const visit : visits_)
        visit->break_off();
    }
    for (auto& thread : threads_)
      thread.join();
  }

  [[nodiscard]] std::string url() const {
    return (tls_ != nullptr ? "https://127.0.0.1:" : "http://127.0.0.1:") + std::to_string(port_) + "/v1";
  }
  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] std::size_t connections() const { return connections_; }

 private:
  void accept_all() {
    for (;;) {
      int const socket = ::accept(listening_.get(), nullptr, nullptr);
      if (socket < 0) return;
      auto const number = ++connections_;
      threads_.emplace_back([this, socket, number] { serve(socket, number); });
    }
  }

  void serve(int socket, std::size_t number) {
    Visit visit{socket, number, tls_};
    {
      std::lock_guard const lock{mutex_};
      visits_.push_back(&visit);
    }
    script_(visit);
    std::lock_guard const lock{mutex_};
    std::erase(visits_, &visit);
  }

  Script script_;
  SSL_CTX* tls_;
  base::Descriptor listening_;
  std::uint16_t port_ = 0;
  std::atomic<std::size_t> connections_{0};
  std::mutex mutex_;
  std::vector<Visit*> visits_;
  std::vector<std::thread> threads_;
  std::thread accepting_;
};

// A port of 127.0.0.1 whose connection queue is full, so a client that connects gets no answer.
class SilentPort {
 public:
  SilentPort() : listening_{::socket(AF_INET, SOCK_STREAM, 0)} {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ::bind(listening_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address);
    ::listen(listening_.get(), 0);
    socklen_t size = sizeof address;
    ::getsockname(listening_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    for (int i = 0; i < 4; ++i) {
      int const filler = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
      static_cast<void>(::connect(filler, reinterpret_cast<sockaddr*>(&address), sizeof address));
      fillers_.push_back(std::make_unique<base::Descriptor>(filler));
    }
  }
  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/v1"; }

 private:
  base::Descriptor listening_;
  std::uint16_t port_ = 0;
  std::vector<std::unique_ptr<base::Descriptor>> fillers_;
};

}  // namespace runnel::net

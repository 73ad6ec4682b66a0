#include "bench/edges/load_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "bench/edges/answer_reader.h"

namespace runnel::bench {

namespace {

using SteadyClock = std::chrono::steady_clock;

// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_{fd} {
    if (fd < 0) throw std::runtime_error{"cannot get a file descriptor from the system"};
  }
  Descriptor(Descriptor const&) = delete;
  Descriptor& operator=(Descriptor const&) = delete;
  ~Descriptor() { close(fd_); }
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

struct Connection {
  std::optional<Descriptor> socket;
  std::unique_ptr<AnswerReader> answer;
  SteadyClock::time_point began;
  bool head_seen = false;
};

class Load {
 public:
  explicit Load(LoadOptions const& options)
      : options_{options},
        poll_{epoll_create1(EPOLL_CLOEXEC)},
        connections_(std::min(options_.connections, options_.requests)) {}

  LoadResult run() {
    auto const began = SteadyClock::now();
    for (std::size_t i = 0; i < connections_.size(); ++i)
      begin_at(began + options_.every * i / connections_.size(), connections_[i]);
    for (begin_due(); open_ > 0 || !due_.empty(); begin_due())
      wait();
    result_.wall_s = std::chrono::duration<double>(SteadyClock::now() - began).count();
    return std::move(result_);
  }

 private:
  // At once, unless the connections have a pace.
  void begin_at(SteadyClock::time_point when, Connection& connection) {
    if (options_.every.count() == 0) return begin(connection);
    due_.emplace(when, &connection);
  }

  void begin_due() {
    while (!due_.empty() && due_.begin()->first <= SteadyClock::now())
      begin(*due_.extract(due_.begin()).mapped());
  }

  // How long to wait for an answer; the next request is sent within a millisecond of its time.
  [[nodiscard]] int patience_ms() const {
    if (due_.empty()) return -1;
    auto const left = std::chrono::ceil<std::chrono::milliseconds>(due_.begin()->first - SteadyClock::now());
    return static_cast<int>(std::max<std::int64_t>(left.count(), 0));
  }

  void begin(Connection& connection) {
    if (begun_ == options_.requests) return drop(connection);
    ++begun_;
    connection.began = SteadyClock::now();
    connection.answer = std::make_unique<AnswerReader>(options_.until, options_.count);
    if (!connection.socket) connect(connection);
    send_request(connection);
  }

  void connect(Connection& connection) {
    connection.socket.emplace(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ++open_;
    int const on = 1;
    setsockopt(connection.socket->get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(options_.port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(connection.socket->get(), reinterpret_cast<sockaddr const*>(&address), sizeof address) != 0)
      throw std::runtime_error{"cannot connect to the server"};
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = &connection;
    epoll_ctl(poll_.get(), EPOLL_CTL_ADD, connection.socket->get(), &event);
  }

  void drop(Connection& connection) {
    if (!connection.socket) return;
    connection.socket.reset();
    --open_;
  }

  // Requests are small, so the kernel takes them in one call.
  void send_request(Connection& connection) {
    auto const number = static_cast<std::size_t>(&connection - connections_.data());
    auto const& message = options_.messages[number % options_.messages.size()];
    auto const sent = send(connection.socket->get(), message.data(), message.size(), MSG_NOSIGNAL);
    if (sent != static_cast<ssize_t>(message.size())) fail(connection);
  }

  void fail(Connection& connection) {
    ++result_.failed;
    drop(connection);
    begin(connection);
  }

  void wait() {
    std::array<epoll_event, 256> events;  // NOLINT: epoll_wait fills it.
    auto const count = epoll_wait(poll_.get(), events.data(), events.size(), patience_ms());
    for (int i = 0; i < count; ++i)
      read(*static_cast<Connection*>(events[static_cast<std::size_t>(i)].data.ptr));
  }

  void read(Connection& connection) {
    auto const got = recv(connection.socket->get(), bytes_.data(), bytes_.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) return fail(connection);
    ++result_.reads;
    auto& answer = *connection.answer;
    answer.feed({bytes_.data(), static_cast<std::size_t>(got)});
    if (answer.status() != 0 && !std::exchange(connection.head_seen, true)) note_head();
    if (answer.done()) finish(connection);
  }

  void note_head() {
    ++heads_;
    if (heads_ != connections_.size() || !options_.say_ready) return;
    std::puts("ready");
    std::fflush(stdout);
  }

  void finish(Connection& connection) {
    auto const& answer = *connection.answer;
    result_.latencies_us.push_back(
        std::chrono::duration<double, std::micro>(SteadyClock::now() - connection.began).count());
    ++result_.statuses[answer.status()];
    result_.body_bytes += answer.body_bytes();
    result_.counted += answer.counted();
    if (!options_.keep_alive || !answer.whole()) drop(connection);
    begin_at(connection.began + options_.every, connection);
  }

  LoadOptions const& options_;
  Descriptor poll_;
  std::vector<Connection> connections_;
  std::multimap<SteadyClock::time_point, Connection*>
      due_;  // Those that wait for the time of their next request.
  std::array<char, 1U << 18U> bytes_;
  std::size_t begun_ = 0;
  std::size_t open_ = 0;
  std::size_t heads_ = 0;
  LoadResult result_;
};

}  // namespace

LoadResult run_load(LoadOptions const& options) {
  if (options.messages.empty()) throw std::runtime_error{"there is no request to send"};
  return std::make_unique<Load>(options)->run();
}

}  // namespace runnel::bench

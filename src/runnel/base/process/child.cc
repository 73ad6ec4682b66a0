#include "runnel/base/process/child.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <optional>
#include <utility>

#include "runnel/base/event.h"

namespace runnel::base {

namespace asio = boost::asio;

namespace {

// How long the pipes may stay open after every process of the group was killed. They close at once unless a
// process has left the group and holds them.
constexpr std::chrono::seconds kDrainTime{1};

constexpr std::size_t kReadBytes = std::size_t{16} << 10U;

// Collects what comes out of a pipe.
struct Collected {
  Collected(asio::any_io_executor const& executor, Descriptor pipe_end, std::size_t most)
      : pipe{executor, pipe_end.release()}, limit{most} {}

  asio::posix::stream_descriptor pipe;
  std::size_t limit;
  std::string text;
  bool over_limit = false;
  bool ended = false;
  std::array<char, kReadBytes> buffer{};

  void keep(std::size_t size) {
    auto const room = std::min(size, limit - text.size());
    text.append(buffer.data(), room);
    over_limit = over_limit || room < size;
  }
};

// A running program. Handlers hold it, so it lives until all of them are done. Used on one core.
class Child : public std::enable_shared_from_this<Child> {
 public:
  Child(asio::any_io_executor const& executor, Spawned spawned, ChildLimits const& limits)
      : pid_{spawned.pid},
        process_{executor, spawned.process.release()},
        output_{executor, std::move(spawned.output), limits.output_bytes},
        errors_{executor, std::move(spawned.errors), limits.error_bytes},
        deadline_{executor, limits.time},
        changed_{executor} {}
  Child(Child const&) = delete;
  Child& operator=(Child const&) = delete;
  // Only if the io_context was destroyed before the program ended.
  ~Child() {
    if (!status_) reap();
  }

  void start() {
    read(output_);
    read(errors_);
    auto self = shared_from_this();
    process_.async_wait(asio::posix::stream_descriptor::wait_read, [self](boost::system::error_code) {
      self->reap();
      self->limit_drain();
      self->changed_.notify_all();
    });
    deadline_.async_wait([self](boost::system::error_code error) {
      if (!error) self->kill(ChildOutcome::End::timed_out);
    });
  }

  // Ends the whole group. The first reason is kept.
  void kill(ChildOutcome::End why) {
    if (status_ || killed_for_) return;
    killed_for_ = why;
    kill_group();
  }
  void cancel() {
    canceled_ = true;
    if (!status_) kill_group();
  }

  asio::awaitable<void> wait() {
    while (!status_ || !output_.ended || !errors_.ended)
      co_await changed_.wait();
    deadline_.cancel();
  }

  [[nodiscard]] bool canceled() const { return canceled_; }

  ChildOutcome take_outcome() {
    ChildOutcome outcome;
    outcome.output = std::move(output_.text);
    outcome.errors = std::move(errors_.text);
    outcome.code = status_->si_status;
    if (killed_for_) {
      outcome.end = *killed_for_;
    } else if (output_.over_limit) {
      outcome.end = ChildOutcome::End::output_too_large;
    } else if (status_->si_code != CLD_EXITED) {
      outcome.end = ChildOutcome::End::signaled;
    }
    return outcome;
  }

 private:
  void read(Collected& from) {
    from.pipe.async_read_some(
        asio::buffer(from.buffer),
        [self = shared_from_this(), &from](boost::system::error_code error, std::size_t size) {
          from.keep(size);
          if (&from == &self->output_ && from.over_limit) self->kill(ChildOutcome::End::output_too_large);
          if (!error) return self->read(from);
          from.ended = true;
          self->changed_.notify_all();
        });
  }

  // The group's id stays taken until its leader is reaped, so no other group can have it.
  void kill_group() const { ::kill(-pid_, SIGKILL); }

  // The program has ended or ends now. Whatever it has started ends with it.
  void reap() {
    kill_group();
    siginfo_t status{};
    while (::waitid(P_PIDFD, static_cast<id_t>(process_.native_handle()), &status, WEXITED) != 0 &&
           errno == EINTR) {
    }
    status_ = status;
  }

  void limit_drain() {
    deadline_.expires_after(kDrainTime);
    deadline_.async_wait([self = shared_from_this()](boost::system::error_code error) {
      if (error) return;
      boost::system::error_code ignored;
      self->output_.pipe.cancel(ignored);
      self->errors_.pipe.cancel(ignored);
    });
  }

  pid_t pid_;
  asio::posix::stream_descriptor process_;
  Collected output_;
  Collected errors_;
  asio::steady_timer deadline_;
  Event changed_;
  std::optional<siginfo_t> status_;
  std::optional<ChildOutcome::End> killed_for_;
  bool canceled_ = false;
};

// A plain function: g++ 12 mishandles captures of strings inside a coroutine (CONTRIBUTING.md).
asio::awaitable<Result<Spawned>> spawn_on(std::shared_ptr<BlockingPool> const& starting,
                                          SpawnRequest request) {
  return starting->run<Spawned>([request = std::move(request)](std::size_t) { return spawn(request); });
}

}  // namespace

asio::awaitable<Result<ChildOutcome>> run_child(SpawnRequest request, ChildLimits limits,
                                                std::shared_ptr<BlockingPool> starting,
                                                std::shared_ptr<Cancel> cancel) {
  if (cancel->requested()) co_return Error{Errc::canceled, "canceled before the program was started"};
  auto spawned = co_await spawn_on(starting, std::move(request));
  if (!spawned) co_return spawned.error();
  auto const child = std::make_shared<Child>(co_await asio::this_coro::executor, std::move(*spawned), limits);
  child->start();
  if (cancel->requested()) child->cancel();
  auto& running = *child;
  Cancel::Registration const wake{*cancel, [&running] { running.cancel(); }};
  co_await child->wait();
  if (child->canceled()) co_return Error{Errc::canceled, "canceled while the program ran"};
  co_return child->take_outcome();
}

}  // namespace runnel::base

#include "runnel/base/process/child.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include <algorithm>
#include <array>
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

// A program that writes so many times more to stderr than is kept is ended.
constexpr std::size_t kErrorFlood = 256;

// Collects what comes out of a pipe.
struct Collected {
  Collected(asio::any_io_executor const& executor, std::size_t most) : pipe{executor}, limit{most} {}

  asio::posix::stream_descriptor pipe;
  std::size_t limit;
  std::size_t seen = 0;
  std::string text;
  bool ended = false;
  std::array<char, kReadBytes> buffer{};

  void keep(std::size_t size) {
    text.append(buffer.data(), std::min(size, limit - text.size()));
    seen += size;
  }
};

// A running program. Handlers hold it, so it lives until all of them are done. Used on one core.
class Child : public std::enable_shared_from_this<Child> {
 public:
  Child(asio::any_io_executor const& executor, Spawned spawned, ChildLimits const& limits)
      : spawned_{std::move(spawned)},
        process_{executor},
        output_{executor, limits.output_bytes},
        errors_{executor, limits.error_bytes},
        deadline_{executor, limits.time},
        changed_{executor} {}

  // If this fails, the program ends with this object.
  Result<void> start() {
    auto const adopted = adopt();
    if (!adopted) return adopted.error();
    read(output_);
    read(errors_);
    await_end();
    deadline_.async_wait([self = shared_from_this()](boost::system::error_code error) {
      if (!error) self->kill(ChildOutcome::End::timed_out);
    });
    return {};
  }

  // Ends the whole group. The first reason is kept.
  void kill(ChildOutcome::End why) {
    if (status_ || killed_for_) return;
    killed_for_ = why;
    spawned_.kill_group();
  }
  void cancel() {
    if (status_) return;
    canceled_ = true;
    spawned_.kill_group();
  }

  asio::awaitable<void> wait() {
    while (!status_ || !output_.ended || !errors_.ended)
      co_await changed_.wait();
    deadline_.cancel();
  }

  Result<ChildOutcome> take_outcome() {
    if (canceled_) return Error{Errc::canceled, "canceled while the program ran"};
    if (!*status_) return status_->error();
    ChildOutcome outcome;
    outcome.output = std::move(output_.text);
    outcome.errors = std::move(errors_.text);
    outcome.code = (*status_)->code;
    if (killed_for_) {
      outcome.end = *killed_for_;
    } else if (output_.seen > output_.limit) {
      outcome.end = ChildOutcome::End::output_too_large;
    } else if (!(*status_)->exited) {
      outcome.end = ChildOutcome::End::signaled;
    }
    return outcome;
  }

 private:
  Result<void> adopt() {
    for (auto [into, from] :
         {std::pair{&process_, &spawned_.process}, std::pair{&output_.pipe, &spawned_.output},
          std::pair{&errors_.pipe, &spawned_.errors}}) {
      boost::system::error_code error;
      into->assign(from->get(), error);
      if (error) return Error{Errc::unavailable, "a descriptor of a program: " + error.message()};
      from->release();
    }
    return {};
  }

  void await_end() {
    process_.async_wait(asio::posix::stream_descriptor::wait_read,
                        [self = shared_from_this()](boost::system::error_code error) {
                          if (!error && !self->spawned_.has_ended()) return self->await_end();
                          self->status_.emplace(self->spawned_.reap());
                          self->limit_drain();
                          self->changed_.notify_all();
                        });
  }

  void read(Collected& from) {
    from.pipe.async_read_some(
        asio::buffer(from.buffer),
        [self = shared_from_this(), &from](boost::system::error_code error, std::size_t size) {
          from.keep(size);
          if (self->is_flooded()) self->kill(ChildOutcome::End::output_too_large);
          if (!error) return self->read(from);
          from.ended = true;
          self->changed_.notify_all();
        });
  }

  [[nodiscard]] bool is_flooded() const {
    return output_.seen > output_.limit || errors_.seen / kErrorFlood > errors_.limit;
  }

  // Closes the pipes after a while. To cancel their reads would not do: while data keeps coming, a read is
  // done before it can be canceled.
  void limit_drain() {
    deadline_.expires_after(kDrainTime);
    deadline_.async_wait([self = shared_from_this()](boost::system::error_code error) {
      if (error) return;
      boost::system::error_code ignored;
      self->output_.pipe.close(ignored);
      self->errors_.pipe.close(ignored);
    });
  }

  Spawned spawned_;
  asio::posix::stream_descriptor process_;
  Collected output_;
  Collected errors_;
  asio::steady_timer deadline_;
  Event changed_;
  std::optional<Result<Spawned::Status>> status_;
  std::optional<ChildOutcome::End> killed_for_;
  bool canceled_ = false;
};

// A plain function: g++ 12 mishandles captures of strings inside a coroutine (CONTRIBUTING.md).
asio::awaitable<Result<Spawned>> spawn_on(BlockingPool& starting, SpawnRequest request) {
  return starting.run<Spawned>([request = std::move(request)](std::size_t) { return spawn(request); });
}

}  // namespace

asio::awaitable<Result<ChildOutcome>> run_child(SpawnRequest request, ChildLimits limits,
                                                std::shared_ptr<BlockingPool> starting,
                                                std::shared_ptr<Cancel> cancel) {
  if (cancel->requested()) co_return Error{Errc::canceled, "canceled before the program was started"};
  auto spawned = co_await spawn_on(*starting, std::move(request));
  if (!spawned) co_return spawned.error();
  auto const child = std::make_shared<Child>(co_await asio::this_coro::executor, std::move(*spawned), limits);
  auto const started = child->start();
  if (!started) co_return started.error();
  if (cancel->requested()) child->cancel();
  auto& running = *child;
  Cancel::Registration const wake{*cancel, [&running] { running.cancel(); }};
  co_await child->wait();
  co_return child->take_outcome();
}

}  // namespace runnel::base

#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "runnel/core/fact/run_names.h"
#include "runnel/http/routes/event_feed.h"
#include "runnel/http/routes/tasks/task_events.h"
#include "runnel/stream/channel.h"
#include "runnel/stream/subscriber.h"

namespace runnel::http {

class LiveTasks;

// What a poll of a run that has not ended is answered with.
struct LiveAnswer {
  ThreadId thread;
  std::string elements;
  std::int64_t first_idx = 0;
  std::int64_t next_idx = 0;
  std::size_t bytes = 0;  // What the elements take, also if they are left out.
};

// The newest events of a run that has not ended and is polled: a reader of the run, shared by all who poll
// it, so that a poll asks neither the store nor a parser. Polls come from any core; the lock is held for the
// copy of what they get. The rest lives on the core on which it was made.
class LiveTask final : public stream::Subscriber, public std::enable_shared_from_this<LiveTask> {
 public:
  using Clock = std::chrono::steady_clock;

  // `feed` reads `channel`, and begins right before the event `first_idx`.
  LiveTask(std::weak_ptr<LiveTasks> table, std::string key, std::unique_ptr<EventFeed> feed,
           std::shared_ptr<stream::Channel> channel, std::int64_t first_idx,
           boost::asio::any_io_executor const& executor);

  // Reads what is stored and attaches to the run. False if that is not possible, or the run has ended.
  boost::asio::awaitable<bool> start();

  // Returns when every event is here that some reader of the run may have got live before this call, or when
  // this is closed. Who has read an event from the store may be a moment ahead: it is there before it is
  // shown.
  boost::asio::awaitable<void> catch_up();

  // Empty if the run has ended, or if what is wanted is kept only in the store. Without the elements, unless
  // there is room for `most` bytes of them.
  [[nodiscard]] std::optional<LiveAnswer> read(std::int64_t from, std::size_t most);

  // Returns when there is an event from `from` on, when this is closed, or at that time.
  boost::asio::awaitable<void> wait_for(std::int64_t from, Clock::time_point until);

  void on_frames(stream::SharedFrames frames) override;
  void on_close(stream::CloseReason reason) override;

  // Gives no more answers, and leaves the run. From any thread.
  void close();

 private:
  // A poll that waits, on its own core.
  struct Waiter {
    explicit Waiter(boost::asio::any_io_executor const& executor) : timer{executor} {}
    boost::asio::steady_timer timer;
  };

  [[nodiscard]] bool is_behind();
  void leave();
  static void wake_all(std::vector<std::shared_ptr<Waiter>> waiters);
  void watch_use();

  std::weak_ptr<LiveTasks> const table_;
  std::string const key_;
  RunNames const names_;
  std::shared_ptr<stream::Channel> const channel_;
  boost::asio::any_io_executor const executor_;
  std::unique_ptr<EventFeed> feed_;  // On its core only.
  boost::asio::steady_timer unused_;

  std::mutex mutex_;
  TaskEvents events_;
  bool starting_ = true;  // The feed is in use: `start` leaves the run if it is closed meanwhile.
  bool closed_ = false;
  Clock::time_point used_at_ = Clock::now();
  std::vector<std::shared_ptr<Waiter>> waiters_;
};

// The live tasks of this process, by their owner and id. Any thread may call it. `stop` is called while the
// cores still run.
class LiveTasks {
 public:
  LiveTasks() = default;
  LiveTasks(LiveTasks const&) = delete;
  LiveTasks& operator=(LiveTasks const&) = delete;

  static std::string key(UserId const& owner, RunId const& run);

  // Null if nobody polls it.
  [[nodiscard]] std::shared_ptr<LiveTask> find(std::string const& key);

  // The task that is to be used: another one if somebody was faster. Null if the server stops.
  std::shared_ptr<LiveTask> add(std::string const& key, std::shared_ptr<LiveTask> task);

  void remove(std::string const& key, LiveTask const* task);

  // The server stops: leaves all tasks, which answers those who wait, and takes no new ones.
  void stop();

 private:
  std::mutex mutex_;
  bool stopped_ = false;
  std::unordered_map<std::string, std::shared_ptr<LiveTask>> tasks_;
};

}  // namespace runnel::http

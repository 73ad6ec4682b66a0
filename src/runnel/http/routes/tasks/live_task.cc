#include "runnel/http/routes/tasks/live_task.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <utility>

namespace runnel::http {

namespace asio = boost::asio;

namespace {

// A task that nobody has polled for this long is left.
constexpr std::chrono::seconds kUnused{30};

// Resumes when its core has done what was posted to it before.
asio::awaitable<void> one_turn() {
  auto const executor = co_await asio::this_coro::executor;
  co_await asio::post(executor, asio::use_awaitable);
}

}  // namespace

LiveTask::LiveTask(std::weak_ptr<LiveTasks> table, std::string key, std::unique_ptr<EventFeed> feed,
                   std::shared_ptr<stream::Channel> channel, std::int64_t first_idx,
                   asio::any_io_executor const& executor)
    : table_{std::move(table)},
      key_{std::move(key)},
      names_{feed->run()},
      channel_{std::move(channel)},
      executor_{executor},
      feed_{std::move(feed)},
      unused_{executor},
      events_{first_idx} {}

asio::awaitable<bool> LiveTask::start() {
  auto const self = shared_from_this();
  FeedStep step = co_await feed_->next(self);
  while (step.kind == FeedStep::Kind::frames) {
    on_frames(step.frames);
    step = co_await feed_->next(self);
  }
  {
    std::lock_guard const lock{mutex_};
    starting_ = false;
    closed_ = closed_ || step.kind != FeedStep::Kind::live;
  }
  if (closed_) {
    leave();
    co_return false;
  }
  watch_use();
  co_return true;
}

bool LiveTask::is_behind() {
  std::lock_guard const lock{mutex_};
  return !closed_ && events_.next_idx() < channel_->shown_idx();
}

// The channel has posted what it shows when its core has had a turn, and this task has it after a turn of its
// own core.
asio::awaitable<void> LiveTask::catch_up() {
  auto const self = shared_from_this();
  if (!is_behind()) co_return;
  co_await asio::co_spawn(channel_->context(), one_turn(), asio::use_awaitable);
  co_await asio::co_spawn(executor_, one_turn(), asio::use_awaitable);
}

std::optional<LiveAnswer> LiveTask::read(std::int64_t from, std::size_t most) {
  std::lock_guard const lock{mutex_};
  used_at_ = Clock::now();
  bool const is_older = from < events_.first_idx() && events_.first_idx() > oldest_kept(events_.next_idx());
  if (closed_ || is_older) return std::nullopt;
  LiveAnswer answer;
  answer.thread = names_.thread;
  answer.first_idx = events_.first_idx();
  answer.next_idx = events_.next_idx();
  answer.bytes = events_.bytes_from(from);
  if (answer.bytes <= most) answer.elements = events_.elements(from);
  return answer;
}

asio::awaitable<void> LiveTask::wait_for(std::int64_t from, Clock::time_point until) {
  auto const waiter = std::make_shared<Waiter>(co_await asio::this_coro::executor);
  waiter->timer.expires_at(until);
  {
    std::lock_guard const lock{mutex_};
    if (closed_ || events_.next_idx() > from) co_return;
    waiters_.push_back(waiter);
  }
  co_await waiter->timer.async_wait(asio::as_tuple(asio::use_awaitable));
  std::lock_guard const lock{mutex_};
  std::erase(waiters_, waiter);
}

void LiveTask::on_frames(stream::SharedFrames frames) {
  std::vector<std::shared_ptr<Waiter>> waiters;
  {
    std::lock_guard const lock{mutex_};
    events_.add(std::move(frames));
    waiters.swap(waiters_);
  }
  wake_all(std::move(waiters));
}

void LiveTask::on_close(stream::CloseReason /*reason*/) {
  close();
}

void LiveTask::close() {
  std::vector<std::shared_ptr<Waiter>> waiters;
  bool starting = false;
  {
    std::lock_guard const lock{mutex_};
    closed_ = true;
    starting = starting_;
    waiters.swap(waiters_);
  }
  wake_all(std::move(waiters));
  if (starting) return;
  // Posted, because the caller may be the channel, and destroying the feed detaches it from the channel.
  asio::post(executor_, [self = shared_from_this()] { self->leave(); });
}

// On the task's core, and not from within a call of the feed or the channel.
void LiveTask::leave() {
  feed_.reset();
  unused_.cancel();
  if (auto const table = table_.lock()) table->remove(key_, this);
}

// Each waiter's timer belongs to the core of its poll.
void LiveTask::wake_all(std::vector<std::shared_ptr<Waiter>> waiters) {
  for (auto& waiter : waiters) {
    auto const executor = waiter->timer.get_executor();
    asio::post(executor, [waiter = std::move(waiter)] { waiter->timer.cancel(); });
  }
}

void LiveTask::watch_use() {
  unused_.expires_after(kUnused);
  unused_.async_wait([weak = weak_from_this()](boost::system::error_code const& ec) {
    auto const self = weak.lock();
    if (ec || !self || !self->feed_) return;
    bool unused = false;
    {
      std::lock_guard const lock{self->mutex_};
      unused = self->waiters_.empty() && Clock::now() - self->used_at_ >= kUnused;
    }
    if (unused) return self->close();
    self->watch_use();
  });
}

std::string LiveTasks::key(UserId const& owner, RunId const& run) {
  return owner.text + '\n' + run.text;
}

std::shared_ptr<LiveTask> LiveTasks::find(std::string const& key) {
  std::lock_guard const lock{mutex_};
  auto const found = tasks_.find(key);
  return found != tasks_.end() ? found->second : nullptr;
}

std::shared_ptr<LiveTask> LiveTasks::add(std::string const& key, std::shared_ptr<LiveTask> task) {
  std::shared_ptr<LiveTask> used;
  {
    std::lock_guard const lock{mutex_};
    if (!stopped_) used = tasks_.try_emplace(key, task).first->second;
  }
  if (used != task) task->close();
  return used;
}

void LiveTasks::remove(std::string const& key, LiveTask const* task) {
  std::shared_ptr<LiveTask> removed;  // Destroyed after the lock is given up.
  std::lock_guard const lock{mutex_};
  auto const found = tasks_.find(key);
  if (found == tasks_.end() || found->second.get() != task) return;
  removed = std::move(found->second);
  tasks_.erase(found);
}

void LiveTasks::stop() {
  std::unordered_map<std::string, std::shared_ptr<LiveTask>> tasks;
  {
    std::lock_guard const lock{mutex_};
    stopped_ = true;
    tasks.swap(tasks_);
  }
  for (auto const& [key, task] : tasks)
    task->close();
}

}  // namespace runnel::http

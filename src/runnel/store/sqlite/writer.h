#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "runnel/base/handoff.h"
#include "runnel/core/error.h"
#include "runnel/store/sqlite/db.h"
#include "runnel/store/store.h"
#include "runnel/store/store_metrics.h"

namespace runnel::store::sqlite {

struct WriterOptions {
  DbOptions db;
  std::size_t max_group = 128;
  // An intent that writes at least this much is large. All large intents of a group write at most
  // `large_bytes_per_group`, or the group has a single one: so long do the intents of others wait for them.
  std::size_t large_bytes = std::size_t{64} * 1024;
  std::size_t large_bytes_per_group = std::size_t{512} * 1024;
  // Called on the writer's thread after each group, when its callers are answered, with the size of the WAL.
  std::function<void(std::size_t wal_bytes)> on_commit;
  StoreMetrics metrics{};
};

// The only thread that writes. The jobs that queue up during a commit are the next group: one transaction,
// each intent in a savepoint, one COMMIT, and then one wake-up per io_context. Large intents queue
// separately, so that the small ones of other users pass them.
//
// An intent that is refused or breaks a constraint loses only its own writes. If an intent meets a damaged
// page, the group is done again without it. A failure of the disk, the memory or a lock, at any point up to
// and including COMMIT, undoes the whole group: all its intents fail with `unavailable` (with `internal` if
// the file is not a valid database), and the next group starts afresh. After a COMMIT whose fsync failed, its
// pages may still be in the WAL. If the process dies before the next commit overwrites them, they take effect
// at the next start: this is the unknown outcome that store.h mentions.
class Writer {
 public:
  // Throws SqlError if the database cannot be opened.
  explicit Writer(WriterOptions options);
  Writer(Writer const&) = delete;
  Writer& operator=(Writer const&) = delete;
  // Commits all queued jobs, then joins the thread. Nothing may be submitted from here on.
  ~Writer();

  // `intent` is a `Result<T>(Db&)`, which writes about that many bytes. The caller resumes when its outcome
  // is durable. The order of two intents is kept only if the second one is submitted after the first is
  // durable.
  template <class T, class Intent>
  Async<T> submit(Intent intent, std::size_t bytes = 0) {
    return enqueue<T>(bytes < options_.large_bytes ? queue_ : large_, std::move(intent), bytes);
  }

  // The same for a maintenance job, which no request waits for: it runs in a commit of its own when nothing
  // else is queued, or after a number of groups.
  template <class T, class Intent>
  Async<T> submit_maintenance(Intent intent) {
    return enqueue<T>(maintenance_, std::move(intent), 0);
  }

 private:
  class Job {
   public:
    explicit Job(std::size_t bytes) : bytes_{bytes} {}
    Job(Job const&) = delete;
    Job& operator=(Job const&) = delete;
    virtual ~Job() = default;
    // Runs inside a savepoint, and again if the group was undone. Returns false if the intent is refused:
    // then its writes must be undone.
    virtual bool run(Db& db) = 0;
    virtual void fail(Error error) = 0;
    virtual std::unique_ptr<base::Waiter> take_waiter() = 0;
    [[nodiscard]] std::size_t bytes() const { return bytes_; }

   private:
    std::size_t bytes_;
  };

  template <class T, class Intent>
  class IntentJob final : public Job {
   public:
    IntentJob(Intent intent, std::size_t bytes, std::unique_ptr<base::Reply<T>> reply)
        : Job{bytes}, intent_{std::move(intent)}, reply_{std::move(reply)} {}

    bool run(Db& db) override {
      Result<T> outcome = intent_(db);
      bool const keep = outcome.has_value();
      reply_->set(std::move(outcome));
      return keep;
    }
    void fail(Error error) override { reply_->set(std::move(error)); }
    std::unique_ptr<base::Waiter> take_waiter() override { return std::move(reply_); }

   private:
    Intent intent_;
    std::unique_ptr<base::Reply<T>> reply_;
  };

  using Group = std::vector<std::unique_ptr<Job>>;
  using Queue = std::deque<std::unique_ptr<Job>>;

  template <class T, class Intent>
  Async<T> enqueue(Queue& queue, Intent intent, std::size_t bytes) {
    return base::wait_for_reply<T>(
        [this, &queue, intent = std::move(intent), bytes](std::unique_ptr<base::Reply<T>> reply) mutable {
          push(queue, std::make_unique<IntentJob<T, Intent>>(std::move(intent), bytes, std::move(reply)));
        });
  }

  void push(Queue& queue, std::unique_ptr<Job> job);
  void serve();
  [[nodiscard]] bool is_idle() const { return queue_.empty() && large_.empty() && maintenance_.empty(); }
  [[nodiscard]] bool is_maintenance_due();
  Group take_group();
  static void move_front(Queue& queue, Group& group);
  void commit(Group& group);
  Job* try_commit(std::vector<Job*> const& jobs);
  void count(Group const& group, std::chrono::steady_clock::time_point begun);
  void run_in_savepoint(Job& job);
  void abandon();
  void open();

  WriterOptions options_;
  std::size_t wal_bytes_ = 0;
  std::size_t wal_bytes_counted_ = 0;
  std::optional<Db> db_;  // Empty if the last one failed to roll back; the next group opens a new one.
  std::mutex mutex_;
  std::condition_variable wake_;
  Queue queue_;
  Queue large_;
  Queue maintenance_;
  std::size_t groups_before_maintenance_ = 0;  // How many groups the next maintenance job has waited for.
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace runnel::store::sqlite

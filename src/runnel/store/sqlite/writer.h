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
  // Called on the writer's thread after each group, when its callers are answered, with the size of the WAL.
  std::function<void(std::size_t wal_bytes)> on_commit;
  StoreMetrics metrics{};
};

// The only thread that writes. The jobs that queue up during a commit are the next group: one transaction,
// each intent in a savepoint, one COMMIT, and then one wake-up per io_context.
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

  // `intent` is a `Result<T>(Db&)`. The caller resumes when its outcome is durable.
  template <class T, class Intent>
  Async<T> submit(Intent intent) {
    return enqueue<T>(queue_, std::move(intent));
  }

  // The same for a maintenance job, which no request waits for: it runs in a commit of its own when nothing
  // else is queued, or after a number of groups.
  template <class T, class Intent>
  Async<T> submit_maintenance(Intent intent) {
    return enqueue<T>(maintenance_, std::move(intent));
  }

 private:
  class Job {
   public:
    Job() = default;
    Job(Job const&) = delete;
    Job& operator=(Job const&) = delete;
    virtual ~Job() = default;
    // Runs inside a savepoint, and again if the group was undone. Returns false if the intent is refused:
    // then its writes must be undone.
    virtual bool run(Db& db) = 0;
    virtual void fail(Error error) = 0;
    virtual std::unique_ptr<base::Waiter> take_waiter() = 0;
  };

  template <class T, class Intent>
  class IntentJob final : public Job {
   public:
    IntentJob(Intent intent, std::unique_ptr<base::Reply<T>> reply)
        : intent_{std::move(intent)}, reply_{std::move(reply)} {}

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
  Async<T> enqueue(Queue& queue, Intent intent) {
    return base::wait_for_reply<T>(
        [this, &queue, intent = std::move(intent)](std::unique_ptr<base::Reply<T>> reply) mutable {
          push(queue, std::make_unique<IntentJob<T, Intent>>(std::move(intent), std::move(reply)));
        });
  }

  void push(Queue& queue, std::unique_ptr<Job> job);
  void serve();
  Group take_group();
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
  Queue maintenance_;
  std::size_t groups_before_maintenance_ = 0;  // How many groups the next maintenance job has waited for.
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace runnel::store::sqlite

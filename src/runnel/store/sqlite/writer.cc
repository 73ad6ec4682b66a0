#include "runnel/store/sqlite/writer.h"

#include <algorithm>
#include <exception>
#include <iterator>
#include <string>

namespace runnel::store::sqlite {

namespace {

constexpr std::size_t kPageSize = 4096;

// A maintenance job (`submit_maintenance`) waits for at most this many groups while other jobs are always
// queued.
constexpr std::size_t kGroupsBeforeMaintenance = 8;

int note_wal_size(void* wal_bytes, sqlite3* /*db*/, char const* /*schema*/, int pages) {
  *static_cast<std::size_t*>(wal_bytes) = static_cast<std::size_t>(pages) * kPageSize;
  return SQLITE_OK;
}

}  // namespace

Writer::Writer(WriterOptions options) : options_{std::move(options)} {
  open();
  thread_ = std::thread{[this] { serve(); }};
}

Writer::~Writer() {
  {
    std::lock_guard const lock{mutex_};
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Writer::push(Queue& queue, std::unique_ptr<Job> job) {
  bool first = false;
  {
    std::lock_guard const lock{mutex_};
    first = is_idle();
    queue.push_back(std::move(job));
  }
  options_.metrics.queued.add();
  if (first) wake_.notify_one();
}

void Writer::serve() {
  while (true) {
    auto group = take_group();
    if (group.empty()) return;

    auto const begun = std::chrono::steady_clock::now();
    commit(group);
    count(group, begun);
    std::vector<std::unique_ptr<base::Waiter>> waiters;
    waiters.reserve(group.size());
    std::transform(group.begin(), group.end(), std::back_inserter(waiters),
                   [](auto& job) { return job->take_waiter(); });
    base::resume_all(std::move(waiters));
    options_.on_commit(wal_bytes_);
  }
}

void Writer::count(Group const& group, std::chrono::steady_clock::time_point begun) {
  auto const& metrics = options_.metrics;
  metrics.commit_time.observe(std::chrono::steady_clock::now() - begun);
  metrics.group_size.observe(static_cast<std::int64_t>(group.size()));
  metrics.wal_bytes.add(static_cast<std::int64_t>(wal_bytes_) -
                        static_cast<std::int64_t>(wal_bytes_counted_));
  wal_bytes_counted_ = wal_bytes_;
}

bool Writer::is_maintenance_due() {
  bool const others_wait = !queue_.empty() || !large_.empty();
  bool const is_due =
      !maintenance_.empty() && (!others_wait || groups_before_maintenance_ >= kGroupsBeforeMaintenance);
  groups_before_maintenance_ = is_due || maintenance_.empty() ? 0 : groups_before_maintenance_ + 1;
  return is_due;
}

void Writer::move_front(Queue& queue, Group& group) {
  group.push_back(std::move(queue.front()));
  queue.pop_front();
}

Writer::Group Writer::take_group() {
  std::unique_lock lock{mutex_};
  wake_.wait(lock, [this] { return stopping_ || !is_idle(); });
  Group group;
  if (is_maintenance_due()) {
    move_front(maintenance_, group);
  } else {
    while (!queue_.empty() && group.size() < options_.max_group)
      move_front(queue_, group);
    auto room = options_.large_bytes_per_group;
    for (bool first = true; !large_.empty() && (first || large_.front()->bytes() <= room); first = false) {
      room -= std::min(room, large_.front()->bytes());
      move_front(large_, group);
    }
  }
  options_.metrics.queued.subtract(static_cast<std::int64_t>(group.size()));
  return group;
}

void Writer::commit(Group& group) {
  std::vector<Job*> jobs;
  jobs.reserve(group.size());
  std::transform(group.begin(), group.end(), std::back_inserter(jobs), [](auto& job) { return job.get(); });
  while (auto* const met_damage = try_commit(jobs)) {
    std::erase(jobs, met_damage);
    if (jobs.empty()) return;
  }
}

// Returns null if the group is committed, or has failed as a whole. Otherwise nothing is written, and the
// returned job has met damage and has its answer: the others must be tried without it.
Writer::Job* Writer::try_commit(std::vector<Job*> const& jobs) {
  Job* current = nullptr;
  try {
    if (!db_) open();
    db_->run("BEGIN IMMEDIATE");
    for (auto* const job : jobs) {
      current = job;
      run_in_savepoint(*job);
    }
    current = nullptr;
    db_->run("COMMIT");
  } catch (SqlError const& error) {
    abandon();
    if (current != nullptr && is_damage(error)) {
      options_.metrics.failed_intents.add();
      current->fail(to_error(error));
      return current;
    }
    options_.metrics.failed_groups.add();
    auto const code = is_damage(error) ? Errc::internal : Errc::unavailable;
    for (auto* const job : jobs) {
      job->fail(Error{code, error.what()});
    }
  }
  return nullptr;
}

// Throws SqlError if the failure concerns more than this intent.
void Writer::run_in_savepoint(Job& job) {
  db_->run("SAVEPOINT intent");
  bool keep = false;
  try {
    keep = job.run(*db_);
  } catch (SqlError const& error) {
    // SQLite may have rolled back the whole transaction by itself.
    if (!is_statements_own(error) || !db_->in_transaction()) throw;
    options_.metrics.failed_intents.add();
    job.fail(to_error(error));
  } catch (std::exception const& error) {
    options_.metrics.failed_intents.add();
    job.fail(Error{Errc::internal, error.what()});
  }
  if (!keep) db_->run("ROLLBACK TO intent");
  db_->run("RELEASE intent");
}

void Writer::abandon() {
  if (!db_) return;
  try {
    if (db_->in_transaction()) db_->run("ROLLBACK");
  } catch (SqlError const&) {
    db_.reset();
  }
}

void Writer::open() {
  db_.emplace(options_.db);
  // The hook replaces SQLite's automatic checkpoints, in which a commit would have to wait for the copying.
  sqlite3_wal_hook(db_->handle(), note_wal_size, &wal_bytes_);
}

}  // namespace runnel::store::sqlite

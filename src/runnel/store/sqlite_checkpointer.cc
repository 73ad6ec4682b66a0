#include "runnel/store/sqlite_checkpointer.h"

namespace runnel::store::sqlite {

namespace {

// From this multiple of the threshold on the writer is held.
constexpr std::size_t kMustRestart = 4;

// How long the writer may be held up by a restart that waits for a reader.
constexpr int kRestartWaitMs = 200;

}  // namespace

Checkpointer::Checkpointer(DbOptions const& options, std::size_t wal_bytes)
    : db_{options}, threshold_{wal_bytes}, ask_at_{wal_bytes} {
  sqlite3_wal_autocheckpoint(db_.handle(), 0);
  sqlite3_busy_timeout(db_.handle(), kRestartWaitMs);
  thread_ = std::thread{[this] { serve(); }};
}

Checkpointer::~Checkpointer() {
  {
    std::lock_guard const lock{mutex_};
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
  // A failure loses nothing: the WAL stays, and the next open reads it.
  sqlite3_wal_checkpoint_v2(db_.handle(), nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
}

void Checkpointer::on_commit(std::size_t wal_bytes) {
  // A WAL that has started over is small again; one that could not is worth a checkpoint a threshold later,
  // not at every commit.
  if (wal_bytes < threshold_) ask_at_ = threshold_;
  if (wal_bytes < ask_at_) return;
  ask_at_ = wal_bytes + threshold_;

  std::unique_lock lock{mutex_};
  due_ = wal_bytes < threshold_ * kMustRestart ? Due::copy : Due::restart;
  wake_.notify_one();
  if (due_ == Due::restart) restarted_.wait(lock, [this] { return due_ != Due::restart; });
}

// A checkpoint that fails (a full disk, a busy reader) loses nothing either: a later commit asks again.
void Checkpointer::serve() {
  std::unique_lock lock{mutex_};
  while (true) {
    wake_.wait(lock, [this] { return stopping_ || due_ != Due::nothing; });
    if (stopping_) return;

    auto const due = due_;
    lock.unlock();
    int const mode = due == Due::copy ? SQLITE_CHECKPOINT_PASSIVE : SQLITE_CHECKPOINT_RESTART;
    sqlite3_wal_checkpoint_v2(db_.handle(), nullptr, mode, nullptr, nullptr);
    lock.lock();
    if (due_ == due) due_ = Due::nothing;
    restarted_.notify_one();
  }
}

}  // namespace runnel::store::sqlite

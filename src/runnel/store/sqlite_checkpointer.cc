#include "runnel/store/sqlite_checkpointer.h"

#include <algorithm>

namespace runnel::store::sqlite {

namespace {

// From this multiple of the threshold on the WAL is to start over.
constexpr std::size_t kMustRestart = 4;

// How long the writer may be held up by a restart that waits for a reader.
constexpr int kRestartWaitMs = 20;

// The writer is held to copy no more than this part of the threshold. A writer that is faster than so many
// copies beside it is held nevertheless.
constexpr std::size_t kHeldPart = 4;
constexpr int kCopies = 8;

constexpr std::size_t kPageSize = 4096;

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
  {
    std::unique_lock lock{mutex_};
    restarted_.wait(lock, [this] { return !holding_; });
  }
  // A WAL that has started over is small again; one that could not is worth a checkpoint a threshold later,
  // not at every commit.
  if (wal_bytes < threshold_) ask_at_ = threshold_;
  if (wal_bytes < ask_at_) return;
  ask_at_ = wal_bytes + threshold_;

  std::unique_lock lock{mutex_};
  due_ = wal_bytes < threshold_ * kMustRestart ? Due::copy : Due::restart;
  wake_.notify_one();
}

// Up to which page of the WAL it got.
int Checkpointer::copy_beside_writer(Due due) {
  auto const few = static_cast<int>(threshold_ / kHeldPart / kPageSize);
  int copied = 0;
  for (int copies = 0; copies < kCopies; ++copies) {
    int in_wal = 0;
    sqlite3_wal_checkpoint_v2(db_.handle(), nullptr, SQLITE_CHECKPOINT_PASSIVE, &in_wal, &copied);
    if (due == Due::copy || in_wal - copied <= few) break;
  }
  return copied;
}

// The writer comes to wait in on_commit; a transaction that it is in the middle of is waited for, as a reader
// is.
void Checkpointer::restart(int copied_before) {
  int in_wal = 0;
  int copied = 0;
  auto const done =
      sqlite3_wal_checkpoint_v2(db_.handle(), nullptr, SQLITE_CHECKPOINT_RESTART, &in_wal, &copied);
  if (done == SQLITE_OK) most_held_pages_ = std::max(most_held_pages_.load(), copied - copied_before);
}

// A checkpoint that fails (a full disk, a busy reader) loses nothing either: a later commit asks again.
void Checkpointer::serve() {
  std::unique_lock lock{mutex_};
  while (true) {
    wake_.wait(lock, [this] { return stopping_ || due_ != Due::nothing; });
    if (stopping_) return;

    auto const due = due_;
    lock.unlock();
    auto const copied = copy_beside_writer(due);
    lock.lock();
    if (due_ == due) due_ = Due::nothing;
    if (due != Due::restart) continue;

    holding_ = true;
    lock.unlock();
    restart(copied);
    lock.lock();
    holding_ = false;
    restarted_.notify_one();
  }
}

}  // namespace runnel::store::sqlite

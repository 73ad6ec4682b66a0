#include "runnel/store/sqlite/wal_checkpointer.h"

#include <algorithm>

namespace runnel::store::sqlite {

namespace {

// When the WAL has grown to this multiple of the threshold, it must start over.
constexpr std::size_t kMustRestart = 4;

// How long a restart that waits for a reader may block the writer.
constexpr int kRestartWaitMs = 20;

// The writer is blocked only when no more than this fraction of the threshold (1 / kHeldPart) is left to
// copy. If the writer is so fast that this is not reached after `kCopies` copies, it is blocked nevertheless.
constexpr std::size_t kHeldPart = 4;
constexpr int kCopies = 8;

constexpr std::size_t kPageSize = 4096;

}  // namespace

WalCheckpointer::WalCheckpointer(DbOptions const& options, std::size_t wal_bytes)
    : db_{options}, threshold_{wal_bytes}, ask_at_{wal_bytes} {
  sqlite3_wal_autocheckpoint(db_.handle(), 0);
  sqlite3_busy_timeout(db_.handle(), kRestartWaitMs);
  thread_ = std::thread{[this] { serve(); }};
}

WalCheckpointer::~WalCheckpointer() {
  {
    std::lock_guard const lock{mutex_};
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
  // A failure loses no data: the WAL stays, and the next open reads it.
  sqlite3_wal_checkpoint_v2(db_.handle(), nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
}

void WalCheckpointer::on_commit(std::size_t wal_bytes) {
  {
    std::unique_lock lock{mutex_};
    wal_bytes_ = wal_bytes;
    restarted_.wait(lock, [this] { return !holding_; });
  }
  // A WAL that has started over is small again. For a WAL that could not start over, the next checkpoint is
  // due when it has grown by another threshold, not at every commit.
  if (wal_bytes < threshold_) ask_at_ = threshold_;
  if (wal_bytes < ask_at_) return;
  ask_at_ = wal_bytes + threshold_;

  std::unique_lock lock{mutex_};
  due_ = wal_bytes < threshold_ * kMustRestart ? Due::copy : Due::restart;
  wake_.notify_one();
}

// Returns the number of pages of the WAL that have been copied.
int WalCheckpointer::copy_beside_writer() {
  int copied = 0;
  sqlite3_wal_checkpoint_v2(db_.handle(), nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, &copied);
  return copied;
}

// The writer waits in `on_commit`. If it is in the middle of a transaction, the checkpoint waits for that
// transaction as it waits for a reader.
void WalCheckpointer::restart(int copied_before) {
  int in_wal = 0;
  int copied = 0;
  auto const done =
      sqlite3_wal_checkpoint_v2(db_.handle(), nullptr, SQLITE_CHECKPOINT_RESTART, &in_wal, &copied);
  if (done == SQLITE_OK) most_held_pages_ = std::max(most_held_pages_.load(), copied - copied_before);
}

// A checkpoint that fails (a full disk, a busy reader) loses no data: a later commit asks again.
void WalCheckpointer::serve() {
  std::unique_lock lock{mutex_};
  while (true) {
    wake_.wait(lock, [this] { return stopping_ || due_ != Due::nothing; });
    if (stopping_) return;

    auto const due = due_;
    int copied = 0;
    for (int copies = 0; copies < (due == Due::copy ? 1 : kCopies); ++copies) {
      lock.unlock();
      copied = copy_beside_writer();
      lock.lock();
      if (wal_bytes_ <= static_cast<std::size_t>(copied) * kPageSize + threshold_ / kHeldPart) break;
    }
    if (due_ == due) due_ = Due::nothing;
    if (due != Due::restart) continue;

    // Since `wal_bytes_` was looked at, the writer can at most have finished the transaction that it was in.
    holding_ = true;
    lock.unlock();
    restart(copied);
    lock.lock();
    holding_ = false;
    restarted_.notify_one();
  }
}

}  // namespace runnel::store::sqlite

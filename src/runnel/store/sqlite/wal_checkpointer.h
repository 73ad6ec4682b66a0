#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>

#include "runnel/store/sqlite/db.h"

namespace runnel::store::sqlite {

// Copies the WAL back into the database on its own thread and connection, while the writer continues. A WAL
// starts over only if it was copied to its end, and no copy reaches the end while the writer is busy. So when
// the WAL has grown to a multiple of the threshold, the writer is blocked while the last part is copied.
class WalCheckpointer {
 public:
  // Throws SqlError if the database cannot be opened.
  WalCheckpointer(DbOptions const& options, std::size_t wal_bytes);
  WalCheckpointer(WalCheckpointer const&) = delete;
  WalCheckpointer& operator=(WalCheckpointer const&) = delete;
  // Joins the thread, then copies the rest and empties the WAL, so that a clean stop leaves one file.
  ~WalCheckpointer();

  // Called on the writer's thread between transactions, with the size of the WAL; asks for a copy if one is
  // due. Returns at once unless the WAL is being made to start over. In that case the writer waits here until
  // this has succeeded, or has waited too long for a reader (20 ms).
  void on_commit(std::size_t wal_bytes);

  // The largest number of pages that were copied at once while the writer was blocked.
  [[nodiscard]] int most_held_pages() const { return most_held_pages_.load(std::memory_order_relaxed); }

 private:
  enum class Due { nothing, copy, restart };

  void serve();
  [[nodiscard]] int copy_beside_writer();
  void restart(int copied_before);

  Db db_;
  std::size_t const threshold_;
  std::size_t ask_at_;  // Only the writer's thread uses it: the size of the WAL at which a checkpoint is due.
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable restarted_;
  Due due_ = Due::nothing;
  std::size_t wal_bytes_ = 0;  // After the newest commit.
  bool holding_ = false;       // The writer must wait, because the WAL is being made to start over.
  std::atomic<int> most_held_pages_{0};
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace runnel::store::sqlite

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>

#include "runnel/store/sqlite_db.h"

namespace runnel::store::sqlite {

// Copies the WAL back into the database on a thread and a connection of its own, beside the writer. Only a
// WAL that was copied to its end starts over, and beside a busy writer no copy reaches the end: where the WAL
// has grown to a multiple of the threshold, the writer is held while the last part is copied.
class Checkpointer {
 public:
  // Throws SqlError where the database cannot be opened.
  Checkpointer(DbOptions const& options, std::size_t wal_bytes);
  Checkpointer(Checkpointer const&) = delete;
  Checkpointer& operator=(Checkpointer const&) = delete;
  // Joins, then copies the rest and empties the WAL, so that a clean stop leaves one file.
  ~Checkpointer();

  // From the writer's thread, between transactions, with the size of the WAL: asks for a copy where it is
  // time for one. Returns at once, unless the WAL is just being made to start over: then the writer waits
  // here until that has succeeded, or has waited in vain for a reader (20 ms).
  void on_commit(std::size_t wal_bytes);

  // The most pages that were copied at once while the writer was held.
  [[nodiscard]] int most_held_pages() const { return most_held_pages_.load(std::memory_order_relaxed); }

 private:
  enum class Due { nothing, copy, restart };

  void serve();
  [[nodiscard]] int copy_beside_writer(Due due);
  void restart(int copied_before);

  Db db_;
  std::size_t const threshold_;
  std::size_t ask_at_;  // The writer's: the size of the WAL from which it is worth a checkpoint.
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable restarted_;
  Due due_ = Due::nothing;
  bool holding_ = false;  // The writer waits: the WAL is being made to start over.
  std::atomic<int> most_held_pages_{0};
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace runnel::store::sqlite

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>

#include "runnel/store/sqlite_db.h"

namespace runnel::store::sqlite {

// Copies the WAL back into the database on a thread and a connection of its own, beside the writer.
class Checkpointer {
 public:
  // Throws SqlError where the database cannot be opened.
  Checkpointer(DbOptions const& options, std::size_t wal_bytes);
  Checkpointer(Checkpointer const&) = delete;
  Checkpointer& operator=(Checkpointer const&) = delete;
  // Joins, then copies the rest and empties the WAL, so that a clean stop leaves one file.
  ~Checkpointer();

  // From the writer's thread, between transactions. Returns at once, but where the WAL has grown to a
  // multiple of the threshold, and all but its newest part has been copied beside the writer, it holds the
  // writer while that part is copied, too: a checkpoint beside a busy writer never reaches the end of what it
  // copies, and only a WAL that was copied to its end starts over.
  void on_commit(std::size_t wal_bytes);

  // The most pages that were copied while the writer was held.
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
  bool holding_ = false;  // The writer waits until the WAL can start over.
  std::atomic<int> most_held_pages_{0};
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace runnel::store::sqlite

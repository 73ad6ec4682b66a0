#pragma once

#include <string>

#include "runnel/core/error.h"

namespace runnel::app {

// The folder that holds the database and the keys, locked: one server at a time writes it. That lock is why a
// server on SQLite may take over every unfinished run at its start. Released with the object, or by the
// kernel at a kill.
class DataDir {
 public:
  // As `ensure`, and takes the lock.
  static Result<DataDir> lock(std::string const& path);

  // Makes the folder (mode 0700) if it is new. One that is there must belong to this user or to root, be
  // closed to all others and be no symbolic link, and neither may the files in it that the server writes be
  // links; else it fails with `invalid`, and the detail says what to do. For commands that run beside a
  // server.
  static Result<void> ensure(std::string const& path);

  DataDir(DataDir&& other) noexcept;
  DataDir& operator=(DataDir&&) = delete;
  DataDir(DataDir const&) = delete;
  DataDir& operator=(DataDir const&) = delete;
  ~DataDir();

 private:
  explicit DataDir(int descriptor) : descriptor_{descriptor} {}

  int descriptor_;
};

}  // namespace runnel::app

#pragma once

#include <string>

#include "runnel/core/error.h"

namespace runnel::app {

// The folder that holds the database and the keys, with its lock: only one server at a time writes to it.
// Because of that lock a server on SQLite may take over every unfinished run at its start. The lock is
// released with the object, or by the kernel if the process is killed.
class DataDir {
 public:
  // Does what `ensure` does, and takes the lock. Fails with `conflict` if another server has it.
  static Result<DataDir> lock(std::string const& path);

  // Creates the folder with mode 0700 if it does not exist. An existing folder must belong to this user or to
  // root, must be closed to all others, and must not be a symbolic link; the files in it that the server
  // writes must not be links either. Otherwise it fails with `invalid`, and the detail says what to do. For
  // commands that may run at the same time as a server.
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

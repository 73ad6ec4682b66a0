#pragma once

#include <string>

#include "runnel/core/error.h"

namespace runnel::app {

// The folder that holds the database and the keys, locked: one server at a time writes it. That lock is why a
// server on SQLite may take over every unfinished run at its start. Released with the object, or by the
// kernel at a kill.
class DataDir {
 public:
  // Makes the folder (mode 0700) if it is new.
  static Result<DataDir> lock(std::string const& path);
  // For commands that run beside a server.
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

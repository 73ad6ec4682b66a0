#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runnel/core/ids.h"
#include "runnel/modules/memory/kind.h"
#include "runnel/store/sql.h"

namespace runnel::modules::memory {

// What was noted about a user. `content` is a JSON object on one line, and never empty.
struct Memory {
  Kind kind = Kind::user;
  std::string content;
  std::int64_t revision = 0;
  std::int64_t updated_at = 0;
};

// The statement that makes `content`, a JSON object on one line, what is noted about the owner. Together with
// what else is written in its transaction it fails with `conflict` if `before` is not what is stored any
// more. An empty object removes the memory, which must then exist.
store::SqlStatement put_memory(UserId const& owner, Kind kind, std::optional<Memory> const& before,
                               std::string content, std::int64_t now_ms);

class Repository {
 public:
  explicit Repository(store::Sql& sql) : sql_{&sql} {}

  // Empty if nothing was noted.
  store::Async<std::optional<Memory>> find(UserId owner, Kind kind);

  // What was noted about the owner, in the order of the kinds.
  store::Async<std::vector<Memory>> all(UserId owner);

  // Does what put_memory() describes.
  store::Async<void> put(UserId owner, Kind kind, std::optional<Memory> before, std::string content,
                         std::int64_t now_ms);

  // Does nothing if there is nothing to forget.
  store::Async<void> forget(UserId owner, Kind kind);

 private:
  store::Sql* sql_;
};

}  // namespace runnel::modules::memory

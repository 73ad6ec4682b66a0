#include "runnel/modules/memory/repository.h"

#include <utility>

namespace runnel::modules::memory {

using store::Async;
using store::SqlStatement;

namespace {

// If another one has come first, no row is touched, and the write fails.
constexpr char kAdd[] = R"sql(
INSERT INTO memories(owner_id, kind, content, revision, updated_at) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT DO NOTHING)sql";

constexpr char kChange[] = R"sql(
UPDATE memories SET content = $3, updated_at = $4, revision = revision + 1
WHERE owner_id = $1 AND kind = $2 AND revision = $5)sql";

constexpr char kRemove[] = "DELETE FROM memories WHERE owner_id = $1 AND kind = $2 AND revision = $3";

constexpr char kForget[] = "DELETE FROM memories WHERE owner_id = $1 AND kind = $2";

constexpr char kFind[] =
    "SELECT kind, content, revision, updated_at FROM memories WHERE owner_id = $1 AND kind = $2";

constexpr char kAll[] =
    "SELECT kind, content, revision, updated_at FROM memories WHERE owner_id = $1 ORDER BY kind";

std::string name_of(Kind kind) {
  return std::string{to_string(kind)};
}

Memory to_memory(store::SqlResult const& found, std::size_t row) {
  Memory memory;
  memory.kind = parse_kind(found.text(row, 0)).value();
  memory.content = found.text(row, 1);
  memory.revision = found.integer(row, 2);
  memory.updated_at = found.integer(row, 3);
  return memory;
}

std::vector<Memory> to_memories(store::SqlResult const& found) {
  std::vector<Memory> out;
  for (std::size_t row = 0; row < found.size(); ++row)
    out.push_back(to_memory(found, row));
  return out;
}

}  // namespace

SqlStatement put_memory(UserId const& owner, Kind kind, std::optional<Memory> const& before,
                        std::string content, std::int64_t now_ms) {
  if (!before)
    return store::statement(kAdd, owner.text, name_of(kind), std::move(content), now_ms, now_ms).touching(1);
  if (content == "{}")
    return store::statement(kRemove, owner.text, name_of(kind), before->revision).touching(1);
  return store::statement(kChange, owner.text, name_of(kind), std::move(content), now_ms, before->revision)
      .touching(1);
}

Async<std::optional<Memory>> Repository::find(UserId owner, Kind kind) {
  auto const found = co_await sql_->read(store::statement(kFind, owner.text, name_of(kind)));
  if (!found) co_return found.error();
  if (found->empty()) co_return std::nullopt;
  co_return to_memory(*found, 0);
}

Async<std::vector<Memory>> Repository::all(UserId owner) {
  auto const found = co_await sql_->read(store::statement(kAll, owner.text));
  if (!found) co_return found.error();
  co_return to_memories(*found);
}

Async<void> Repository::put(UserId owner, Kind kind, std::optional<Memory> before, std::string content,
                            std::int64_t now_ms) {
  std::vector<SqlStatement> statements;
  statements.push_back(put_memory(owner, kind, before, std::move(content), now_ms));
  auto const written = co_await sql_->write(std::move(statements));
  if (!written) co_return written.error();
  co_return Result<void>{};
}

Async<void> Repository::forget(UserId owner, Kind kind) {
  auto const written = co_await sql_->write_one(store::statement(kForget, owner.text, name_of(kind)));
  if (!written) co_return written.error();
  co_return Result<void>{};
}

}  // namespace runnel::modules::memory

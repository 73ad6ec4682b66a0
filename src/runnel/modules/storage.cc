#include "runnel/modules/storage.h"

namespace runnel::modules {

store::Async<bool> is_storage_full(store::Sql& sql, UserId user, std::int64_t limit_bytes) {
  if (limit_bytes == 0) co_return false;
  auto const found =
      co_await sql.read(store::statement("SELECT bytes FROM storage_totals WHERE owner_id = $1", user.text));
  if (!found) co_return found.error();
  co_return !found->empty() && found->integer(0, 0) >= limit_bytes;
}

}  // namespace runnel::modules

#pragma once

#include <cstdint>

#include "runnel/core/ids.h"
#include "runnel/store/sql.h"

namespace runnel::modules {

// Whether the user's data takes all the storage that a user may have (HTTP-9). A limit of 0 means no limit.
store::Async<bool> is_storage_full(store::Sql& sql, UserId user, std::int64_t limit_bytes);

}  // namespace runnel::modules

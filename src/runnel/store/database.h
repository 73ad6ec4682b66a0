#pragma once

#include "runnel/store/sql.h"
#include "runnel/store/store.h"

namespace runnel::store {

// What an engine provides over one database: the life of runs as intents, and the SQL layer for everything
// else.
class Database : public Store, public Sql {};

}  // namespace runnel::store

#include "runnel/modules/tickets/module.h"

#include "kOpenApi.inc"
#include "kPostgresSchema.inc"
#include "kSqliteSchema.inc"
#include "runnel/modules/tickets/tickets.h"

namespace runnel::modules::tickets {

Definition define() {
  return {{{"tickets", 1, kSqliteSchema, kPostgresSchema}}, kOpenApi, [](Context const& context) {
            return std::make_unique<Tickets>(context);
          }};
}

}  // namespace runnel::modules::tickets

#include "runnel/modules/tickets/module.h"

#include "kOpenApi.inc"
#include "kPostgresSchema.inc"
#include "kPostgresThreadTickets.inc"
#include "kSqliteSchema.inc"
#include "kSqliteThreadTickets.inc"
#include "runnel/modules/tickets/tickets.h"

namespace runnel::modules::tickets {

Definition define() {
  return {{{"tickets", 1, kSqliteSchema, kPostgresSchema},
           {"tickets", 2, kSqliteThreadTickets, kPostgresThreadTickets}},
          kOpenApi,
          [](Context const& context) { return std::make_unique<Tickets>(context); }};
}

}  // namespace runnel::modules::tickets

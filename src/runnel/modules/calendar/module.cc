#include "runnel/modules/calendar/module.h"

#include "kPostgresInvites.inc"
#include "kPostgresRecurrence.inc"
#include "kPostgresSchema.inc"
#include "kSqliteInvites.inc"
#include "kSqliteRecurrence.inc"
#include "kSqliteSchema.inc"
#include "runnel/modules/calendar/commands.h"
#include "runnel/modules/calendar/methods.h"
#include "runnel/modules/calendar/routes.h"
#include "runnel/modules/calendar/schemas.h"

namespace runnel::modules::calendar {

namespace {

class CalendarModule final : public Module {
 public:
  explicit CalendarModule(Context const& context) : context_{context} {}

  void add_routes(api::Router& router) override { add_calendar_routes(router, context_); }
  std::vector<Method> methods() override { return calendar_methods(Repository{context_.sql}); }

 private:
  Context context_;
};

}  // namespace

Definition define() {
  return {{{"calendar", 1, kSqliteSchema, kPostgresSchema},
           {"calendar", 2, kSqliteInvites, kPostgresInvites},
           {"calendar", 3, kSqliteRecurrence, kPostgresRecurrence}},
          openapi(),
          [](Context const& context) { return std::make_unique<CalendarModule>(context); },
          commands()};
}

}  // namespace runnel::modules::calendar

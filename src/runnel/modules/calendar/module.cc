#include "runnel/modules/calendar/module.h"

#include "kOpenApi.inc"
#include "kPostgresSchema.inc"
#include "kSqliteSchema.inc"
#include "runnel/modules/calendar/commands.h"
#include "runnel/modules/calendar/methods.h"

namespace runnel::modules::calendar {

namespace {

class CalendarModule final : public Module {
 public:
  explicit CalendarModule(Context const& context) : repository_{context.sql} {}

  void add_routes(api::Router& /*router*/) override {}
  std::vector<Method> methods() override { return calendar_methods(repository_); }

 private:
  Repository repository_;
};

}  // namespace

Definition define() {
  return {{{"calendar", 1, kSqliteSchema, kPostgresSchema}},
          kOpenApi,
          [](Context const& context) { return std::make_unique<CalendarModule>(context); },
          commands()};
}

}  // namespace runnel::modules::calendar

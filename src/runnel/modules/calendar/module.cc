#include "runnel/modules/calendar/module.h"

#include "kPostgresInvites.inc"
#include "kPostgresSchema.inc"
#include "kSqliteInvites.inc"
#include "kSqliteSchema.inc"
#include "runnel/modules/calendar/cards.h"
#include "runnel/modules/calendar/commands.h"
#include "runnel/modules/calendar/demo.h"
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

  store::Async<void> add_demo_data(DemoUser demo) override {
    auto const written = co_await context_.sql.write(demo_statements(demo));
    if (!written) co_return written.error();
    co_return Result<void>{};
  }

 private:
  Context context_;
};

}  // namespace

Definition define() {
  return {
      {{"calendar", 1, kSqliteSchema, kPostgresSchema}, {"calendar", 2, kSqliteInvites, kPostgresInvites}},
      openapi(),
      [](Context const& context) { return std::make_unique<CalendarModule>(context); },
      commands(),
      card_forms()};
}

}  // namespace runnel::modules::calendar

#include "runnel/modules/calendar/module.h"

#include "kPostgresBounds.inc"
#include "kPostgresIcs.inc"
#include "kPostgresInvites.inc"
#include "kPostgresRecurrence.inc"
#include "kPostgresSchema.inc"
#include "kSqliteBounds.inc"
#include "kSqliteIcs.inc"
#include "kSqliteInvites.inc"
#include "kSqliteRecurrence.inc"
#include "kSqliteSchema.inc"
#include "runnel/base/fair_pool.h"
#include "runnel/modules/calendar/cards/cards.h"
#include "runnel/modules/calendar/commands.h"
#include "runnel/modules/calendar/demo.h"
#include "runnel/modules/calendar/ics/feed_routes.h"
#include "runnel/modules/calendar/ics/import_route.h"
#include "runnel/modules/calendar/methods.h"
#include "runnel/modules/calendar/routes.h"
#include "runnel/modules/calendar/schemas/schemas.h"

namespace runnel::modules::calendar {

namespace {

// How many files of one user may wait to be read or made.
constexpr std::size_t kMostFilesWaiting = 8;

class CalendarModule final : public Module {
 public:
  explicit CalendarModule(Context const& context) : context_{context} {}

  void add_routes(api::Router& router) override {
    add_calendar_routes(router, context_);
    add_feed_routes(router, context_, files_);
    add_import_route(router, context_, files_);
  }
  std::vector<Method> methods() override { return calendar_methods(Repository{context_.sql}); }

  store::Async<void> add_demo_data(DemoUser demo) override {
    auto const written = co_await context_.sql.write(demo_statements(demo));
    if (!written) co_return written.error();
    co_return Result<void>{};
  }

 private:
  Context context_;
  base::FairPool files_{1, kMostFilesWaiting};
};

}  // namespace

Definition define() {
  return {{{"calendar", 1, kSqliteSchema, kPostgresSchema},
           {"calendar", 2, kSqliteInvites, kPostgresInvites},
           {"calendar", 3, kSqliteRecurrence, kPostgresRecurrence},
           {"calendar", 4, kSqliteIcs, kPostgresIcs},
           {"calendar", 5, kSqliteBounds, kPostgresBounds}},
          openapi(),
          [](Context const& context) { return std::make_unique<CalendarModule>(context); },
          commands(),
          card_forms()};
}

}  // namespace runnel::modules::calendar

#include "runnel/modules/memory/module.h"

#include "kPostgresSchema.inc"
#include "kSqliteSchema.inc"
#include "runnel/modules/memory/cards.h"
#include "runnel/modules/memory/commands.h"
#include "runnel/modules/memory/methods.h"
#include "runnel/modules/memory/routes.h"
#include "runnel/modules/memory/schemas.h"

namespace runnel::modules::memory {

namespace {

class MemoryModule final : public Module {
 public:
  explicit MemoryModule(Context const& context) : context_{context} {}

  void add_routes(api::Router& router) override { add_memory_routes(router, context_); }
  std::vector<Method> methods() override { return memory_methods(Repository{context_.sql}); }

 private:
  Context context_;
};

}  // namespace

Definition define() {
  return {{{"memory", 1, kSqliteSchema, kPostgresSchema}},
          openapi_part(),
          [](Context const& context) { return std::make_unique<MemoryModule>(context); },
          commands(),
          card_forms()};
}

}  // namespace runnel::modules::memory

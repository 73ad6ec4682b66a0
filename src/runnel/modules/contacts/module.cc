#include "runnel/modules/contacts/module.h"

#include "kOpenApi.inc"
#include "kPostgresSchema.inc"
#include "kSqliteSchema.inc"
#include "runnel/modules/contacts/cards.h"
#include "runnel/modules/contacts/commands.h"
#include "runnel/modules/contacts/demo.h"
#include "runnel/modules/contacts/methods.h"
#include "runnel/modules/contacts/routes.h"

namespace runnel::modules::contacts {

namespace {

class ContactsModule final : public Module {
 public:
  explicit ContactsModule(Context const& context) : context_{context} {}

  void add_routes(api::Router& router) override { add_contact_routes(router, context_); }
  std::vector<Method> methods() override { return contact_methods(Repository{context_.sql}); }

  store::Async<void> add_demo_data(DemoUser demo) override {
    Repository repository{context_.sql};
    for (auto contact : demo_contacts()) {
      contact.created_at = demo.now_ms;
      contact.updated_at = demo.now_ms;
      auto const added = co_await repository.add(demo.user, std::move(contact));
      if (!added) co_return added.error();
    }
    co_return Result<void>{};
  }

 private:
  Context context_;
};

}  // namespace

Definition define() {
  return {{{"contacts", 1, kSqliteSchema, kPostgresSchema}},
          kOpenApi,
          [](Context const& context) { return std::make_unique<ContactsModule>(context); },
          commands(),
          card_forms()};
}

}  // namespace runnel::modules::contacts

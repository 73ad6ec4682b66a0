#include "runnel/modules/profile/module.h"

#include "kOpenApi.inc"
#include "kPostgresSchema.inc"
#include "kSqliteSchema.inc"
#include "runnel/modules/profile/routes.h"

namespace runnel::modules::profile {

namespace {

class ProfileModule final : public Module {
 public:
  ProfileModule(Context const& context, Upgrade upgrade)
      : repository_{context.sql}, clock_{context.clock}, upgrade_{upgrade} {}

  void add_routes(api::Router& router) override { add_profile_routes(router, repository_, clock_, upgrade_); }

 private:
  Repository repository_;
  base::Clock const& clock_;
  Upgrade upgrade_;
};

}  // namespace

Definition define(Upgrade upgrade) {
  return {{{"profile", 1, kSqliteSchema, kPostgresSchema}}, kOpenApi, [upgrade](Context const& context) {
            return std::make_unique<ProfileModule>(context, upgrade);
          }};
}

}  // namespace runnel::modules::profile

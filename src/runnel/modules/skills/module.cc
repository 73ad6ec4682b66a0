#include "runnel/modules/skills/module.h"

#include <utility>

#include "runnel/modules/skills/commands.h"
#include "runnel/modules/skills/methods.h"

namespace runnel::modules::skills {

namespace {

class SkillsModule final : public Module {
 public:
  explicit SkillsModule(std::shared_ptr<base::Skills const> loaded) : loaded_{std::move(loaded)} {}

  void add_routes(api::Router& /*router*/) override {}
  std::vector<Method> methods() override { return skill_methods(loaded_); }

 private:
  std::shared_ptr<base::Skills const> loaded_;
};

}  // namespace

Definition define(std::shared_ptr<base::Skills const> loaded) {
  Definition definition;
  definition.make = [loaded = std::move(loaded)](Context const& /*context*/) {
    return std::make_unique<SkillsModule>(loaded);
  };
  definition.commands = commands();
  return definition;
}

}  // namespace runnel::modules::skills

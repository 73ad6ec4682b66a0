#include "runnel/app/modules.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "runnel/api/openapi_document.h"
#include "runnel/http/routes/openapi.h"
#include "runnel/http/routes/tasks/task_routes.h"
#include "runnel/modules/all_modules.h"

namespace runnel::app {

namespace {

// A new module needs one line here.
std::vector<modules::Definition> define_modules(Settings const& settings,
                                                std::shared_ptr<base::Skills const> skills) {
  using modules::profile::Upgrade;
  std::vector<modules::Definition> all;
  all.push_back(modules::calendar::define());
  all.push_back(modules::contacts::define());
  all.push_back(modules::memory::define());
  all.push_back(modules::profile::define(settings.upgrade_profiles ? Upgrade::on_write : Upgrade::deferred));
  all.push_back(modules::skills::define(std::move(skills)));
  all.push_back(modules::tickets::define());
  return all;
}

}  // namespace

Modules::Modules(Settings const& settings, std::shared_ptr<base::Skills const> skills)
    : definitions_{define_modules(settings, std::move(skills))} {}

std::vector<store::Migration> Modules::migrations() const {
  std::vector<store::Migration> all;
  for (auto const& definition : definitions_) {
    all.insert(all.end(), definition.migrations.begin(), definition.migrations.end());
  }
  return all;
}

std::string Modules::openapi() const {
  std::vector<std::string_view> parts{http::openapi_part(), http::tasks_openapi_part()};
  for (auto const& definition : definitions_) {
    parts.push_back(definition.openapi);
  }
  return api::assemble_openapi(parts);
}

std::vector<std::string> Modules::command_names() const {
  std::vector<std::string> names;
  for (auto const& definition : definitions_) {
    if (!definition.commands.name.empty()) names.emplace_back(definition.commands.name);
  }
  return names;
}

std::vector<std::string> Modules::method_names() const {
  std::vector<std::string> names;
  for (auto const& definition : definitions_) {
    for (auto const& method : definition.commands.methods)
      names.push_back(std::string{definition.commands.name} + "." + std::string{method.name});
  }
  return names;
}

std::vector<CardForm> Modules::cards() const {
  std::vector<CardForm> all;
  for (auto const& definition : definitions_) {
    all.insert(all.end(), definition.cards.begin(), definition.cards.end());
  }
  return all;
}

void Modules::make(modules::Context const& context) {
  for (auto const& definition : definitions_) {
    auto& module = modules_.emplace_back(definition.make(context));
    if (auto* const tickets = dynamic_cast<api::StreamTickets*>(module.get())) stream_tickets_ = tickets;
  }
}

void Modules::add_routes(api::Router& router) {
  for (auto const& module : modules_) {
    module->add_routes(router);
  }
}

std::vector<modules::Method> Modules::methods() const {
  std::vector<modules::Method> all;
  for (auto const& module : modules_) {
    auto methods = module->methods();
    std::move(methods.begin(), methods.end(), std::back_inserter(all));
  }
  return all;
}

store::Async<void> Modules::add_demo_data(modules::DemoUser demo) {
  for (auto const& module : modules_) {
    auto const added = co_await module->add_demo_data(demo);
    if (!added && added.error().code != Errc::conflict) co_return added.error();
  }
  co_return Result<void>{};
}

void Modules::start() {
  for (auto const& module : modules_) {
    module->start();
  }
}

void Modules::stop() {
  for (auto const& module : modules_) {
    module->stop();
  }
}

}  // namespace runnel::app

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runnel/api/router.h"
#include "runnel/api/stream_tickets.h"
#include "runnel/app/settings/settings.h"
#include "runnel/base/skills/skills.h"
#include "runnel/modules/module.h"

namespace runnel::app {

// The modules of this server, with their schemas, their parts of the API, and their background work.
class Modules {
 public:
  // Models can read `skills`. What does not call methods needs none.
  explicit Modules(Settings const& settings,
                   std::shared_ptr<base::Skills const> skills = std::make_shared<base::Skills const>());

  [[nodiscard]] std::vector<store::Migration> migrations() const;

  // The OpenAPI document of all routes: the server's own routes and those of the modules.
  [[nodiscard]] std::string openapi() const;

  // The modules that models can call, and their methods, as "module.method".
  [[nodiscard]] std::vector<std::string> command_names() const;
  [[nodiscard]] std::vector<std::string> method_names() const;

  // The cards of all methods that have one.
  [[nodiscard]] std::vector<CardForm> cards() const;

  // Call it once, before any of the functions below.
  void make(modules::Context const& context);
  void add_routes(api::Router& router);
  [[nodiscard]] std::vector<modules::Method> methods() const;
  store::Async<void> add_demo_data(modules::DemoUser demo);
  void start();
  void stop();

  [[nodiscard]] api::StreamTickets* stream_tickets() const { return stream_tickets_; }

 private:
  std::vector<modules::Definition> definitions_;
  std::vector<std::unique_ptr<modules::Module>> modules_;
  api::StreamTickets* stream_tickets_ = nullptr;  // One of the modules.
};

}  // namespace runnel::app

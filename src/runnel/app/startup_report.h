#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "runnel/app/settings.h"
#include "runnel/flow/flow.h"
#include "runnel/model/prices.h"
#include "runnel/model/registry.h"

namespace runnel::app {

// What a server with these settings will do, for whoever is about to start it (CFG-3).
struct StartupReport {
  std::vector<std::pair<std::string, std::string>> lines;  // A subject and what holds for it.
  std::vector<std::string> warnings;  // What is allowed, but most likely not what was meant.
};

// What the report is made from. `environment` is only asked which keys of vendors are set.
struct ReportParts {
  Settings const& settings;
  char const* const* environment;
  model::Registry const& models;
  model::PriceBook const& prices;
  flow::Catalog const& flows;
  std::int64_t now_ms;
};

StartupReport make_startup_report(ReportParts const& parts);

// One line each, the subjects in a column; without the warnings.
std::string to_text(StartupReport const& report);

}  // namespace runnel::app

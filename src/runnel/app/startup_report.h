#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "runnel/app/settings/settings.h"
#include "runnel/flow/flow.h"
#include "runnel/model/pricing/prices.h"
#include "runnel/model/registry.h"

namespace runnel::app {

// What a server with these settings will do, for the operator who is about to start it (CFG-3).
struct StartupReport {
  std::vector<std::pair<std::string, std::string>> lines;  // A subject, and the text about it.
  std::vector<std::string> warnings;  // Settings that are allowed, but are most likely mistakes.
};

// What the report is made from. `environment` is only used to see which keys of vendors are set.
struct ReportParts {
  Settings const& settings;
  char const* const* environment;
  model::Registry const& models;
  model::PriceBook const& prices;
  flow::Catalog const& flows;
  std::int64_t now_ms;
};

StartupReport make_startup_report(ReportParts const& parts);

// The lines of the report with the subjects in a column, without the warnings.
std::string to_text(StartupReport const& report);

}  // namespace runnel::app

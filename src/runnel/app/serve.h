#pragma once

#include <memory>

#include "runnel/app/settings/settings.h"
#include "runnel/app/startup_report.h"
#include "runnel/base/clock.h"
#include "runnel/http/auth/authenticator.h"
#include "runnel/store/database.h"
#include "runnel/store/store_metrics.h"

namespace runnel::app {

// Runs the server until SIGINT or SIGTERM, and then drains it. Returns the exit code of the process. If
// something goes wrong, stderr says what it is and what to do.
int serve(Settings const& settings);

// Makes the checks of `serve` that need no start: the address is allowed in dev mode, the keys and origins
// are valid, the folder of static files exists, this version has the store and the stream, models have
// prices, flows are valid, and the programs of tools can be started in their sandbox. Returns what the server
// will do. Fails with `invalid`; the detail is for the operator and has one line per mistake.
Result<StartupReport> check(Settings const& settings);

// Whether no auth key is configured. In dev mode the server signs its own tokens and gives them only to this
// machine (HTTP-5).
bool is_dev_mode(Settings const& settings);

// Decides who has access: with the keys that the settings name, or in dev mode with the data folder's own
// key.
Result<http::Authenticator> open_authenticator(Settings const& settings, base::Clock const& clock);

// Opens the store that the settings name and brings its tables up to date.
Result<std::unique_ptr<store::Database>> open_store(Settings const& settings,
                                                    store::StoreMetrics metrics = {});

}  // namespace runnel::app

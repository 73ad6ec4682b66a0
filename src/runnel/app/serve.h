#pragma once

#include <memory>

#include "runnel/app/settings.h"
#include "runnel/app/startup_report.h"
#include "runnel/base/clock.h"
#include "runnel/http/authenticator.h"
#include "runnel/store/store.h"
#include "runnel/store/store_metrics.h"

namespace runnel::app {

// Runs the server until SIGINT or SIGTERM, and drains it then. Returns the process's exit code; what went
// wrong and what to do stands on stderr.
int serve(Settings const& settings);

// The checks of `serve` that need no start: the address is allowed in dev mode, the keys and origins are
// good, the folder of files is there, the store and stream are ones this version has, models have prices and
// flows make sense. Then it tells what the server will do. Fails with `invalid`; the detail is for the
// operator and has a line for each mistake.
Result<StartupReport> check(Settings const& settings);

// HTTP-5: no auth key is configured, so the server signs its own tokens and gives them to this machine.
bool is_dev_mode(Settings const& settings);

// Who may come in: by the keys that the settings name, in dev mode by the data folder's own.
Result<http::Authenticator> open_authenticator(Settings const& settings, base::Clock const& clock);

// The store that the settings name, its tables up to date.
Result<std::unique_ptr<store::Store>> open_store(Settings const& settings, store::StoreMetrics metrics = {});

}  // namespace runnel::app

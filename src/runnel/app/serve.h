#pragma once

#include <memory>

#include "runnel/app/settings.h"
#include "runnel/store/store.h"
#include "runnel/store/store_metrics.h"

namespace runnel::app {

// Runs the server until SIGINT or SIGTERM, and drains it then. Returns the process's exit code; what went
// wrong and what to do stands on stderr.
int serve(Settings const& settings);

// The checks of `serve` that need no start: the address is allowed in dev mode, the store and stream are ones
// this version has. Fails with `invalid`; the detail is for the operator.
Result<void> check(Settings const& settings);

// The store that the settings name, its tables up to date.
Result<std::unique_ptr<store::Store>> open_store(Settings const& settings, store::StoreMetrics metrics = {});

}  // namespace runnel::app

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runnel/app/settings.h"
#include "runnel/base/cores.h"
#include "runnel/core/error.h"
#include "runnel/model/prices.h"
#include "runnel/model/registry.h"
#include "runnel/net/http_client.h"

namespace runnel::app {

// The models that a run may name, what they cost, and the connections to their providers, one pool a core.
struct Models {
  std::vector<std::unique_ptr<net::HttpClient>> clients;
  std::unique_ptr<model::Registry> registry;
  model::PriceBook prices;
};

// The price list of the settings. Fails with `invalid` where a file is wrong or one of the settings' models
// has no price (USE-6); the detail is for the operator.
Result<model::PriceBook> load_prices(Settings const& settings, std::int64_t now_ms);

// The name in that list under which all models of the provider stand; empty: each under its own. USE-6: a
// model that only the environment names costs nothing on this machine.
std::string shared_price(ProviderSettings const& provider);

// Whether its address is this machine's.
bool is_on_this_machine(ProviderSettings const& provider);

// Fails like `load_prices`, and where a key cannot be read or a name leads nowhere. `environment` has the
// keys that the settings name. The clients live on `cores`, which outlives them; destroy them when it has
// stopped.
Result<Models> make_models(Settings const& settings, char const* const* environment, base::Cores& cores,
                           std::int64_t now_ms);

// What can be said of the models without a start.
struct CheckedModels {
  std::vector<std::string> problems;  // Why `make_models` would fail, and with what else; for the operator.
  std::unique_ptr<model::Registry> registry;  // Answers no calls. Null: its names have a problem.
  std::optional<model::PriceBook> prices;     // None: it has a problem.
};

CheckedModels check_models(Settings const& settings, char const* const* environment, std::int64_t now_ms);

}  // namespace runnel::app

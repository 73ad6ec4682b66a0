#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runnel/app/settings/settings.h"
#include "runnel/base/cores.h"
#include "runnel/core/error.h"
#include "runnel/model/pricing/prices.h"
#include "runnel/model/registry.h"
#include "runnel/net/http_client.h"

namespace runnel::app {

// The models that a run may name, their prices, and the connections to their providers, with one pool per
// core.
struct Models {
  std::vector<std::unique_ptr<net::HttpClient>> clients;
  std::unique_ptr<model::Registry> registry;
  model::PriceBook prices;
};

// The price list of the settings. Fails with `invalid` if a file is wrong or if a model in the settings has
// no price (USE-6); the detail is for the operator.
Result<model::PriceBook> load_prices(Settings const& settings, std::int64_t now_ms);

// The name in that list that has the price of all models of the provider. Empty if each model has its own
// price. A model that only the environment names is free if it is on this machine (USE-6).
std::string shared_price(ProviderSettings const& provider);

// Whether the provider's address is on this machine.
bool is_on_this_machine(ProviderSettings const& provider);

// Fails like `load_prices`, and also if a key cannot be read or if no provider has a model that the settings
// name. `environment` has the keys that the settings name. The clients live on `cores`, which must outlive
// them; destroy them after `cores` has stopped.
Result<Models> make_models(Settings const& settings, char const* const* environment, base::Cores& cores,
                           std::int64_t now_ms);

// What can be checked about the models without a start.
struct CheckedModels {
  std::vector<std::string> problems;  // For the operator: all that `make_models` would fail with.
  std::unique_ptr<model::Registry>
      registry;                            // It cannot make calls. Null if its names or keys have a problem.
  std::optional<model::PriceBook> prices;  // Empty if the prices have a problem.
};

CheckedModels check_models(Settings const& settings, char const* const* environment, std::int64_t now_ms);

}  // namespace runnel::app

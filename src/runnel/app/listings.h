#pragma once

#include <vector>

#include "runnel/app/tools/methods.h"
#include "runnel/flow/flow.h"
#include "runnel/http/routes/listing_routes.h"
#include "runnel/model/registry.h"

namespace runnel::app {

// What the server tells its users of the flows, models and methods that they may use: no prompts, no keys and
// no addresses.
http::Listings make_listings(flow::Catalog const& flows, model::Registry const& models,
                             std::vector<ListedMethod> const& methods);

}  // namespace runnel::app

#pragma once

#include <memory>
#include <string_view>

#include "runnel/http/contract.h"
#include "runnel/http/router.h"

namespace runnel::http {

// openapi.json: what this server promises, and is held to.
std::string_view openapi_document();
std::shared_ptr<Contract const> openapi_contract();

// GET /openapi.json (HTTP-7).
void add_openapi_route(Router& router);

}  // namespace runnel::http

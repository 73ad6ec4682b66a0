#pragma once

#include <string>
#include <string_view>

#include "runnel/api/router.h"

namespace runnel::http {

// openapi.json: the part of the OpenAPI document that describes this room's routes. Its dialects are those of
// protocol/wires.h.
std::string_view openapi_part();

// GET /openapi.json (HTTP-7): the whole document.
void add_openapi_route(api::Router& router, std::string document);

}  // namespace runnel::http

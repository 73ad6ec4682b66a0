#pragma once

#include <memory>

#include "runnel/api/openapi_contract.h"
#include "runnel/api/openapi_document.h"
#include "runnel/http/routes/openapi.h"

namespace runnel::http {

// The contract of this room's routes, without those of modules.
inline std::shared_ptr<api::OpenApiContract const> openapi_contract() {
  static auto const contract =
      std::make_shared<api::OpenApiContract const>(api::assemble_openapi({openapi_part()}));
  return contract;
}

}  // namespace runnel::http

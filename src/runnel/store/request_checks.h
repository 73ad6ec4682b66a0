#pragma once

#include <string>

#include "runnel/core/error.h"
#include "runnel/store/rows.h"

// Checks of requests that do not depend on the engine. They are made before a request reaches an engine, so
// that both engines refuse the same requests with the same words. Each check fails with `invalid`.
namespace runnel::store {

Result<void> check(AdmitRequest const& request);
Result<void> check(ClaimRequest const& request);
Result<void> check(AppendRequest const& request);
Result<void> check(EndRequest const& request);
Result<void> check(ForceEndRequest const& request);
Result<void> check(DiscardRequest const& request);
Result<void> check(NewCall const& call);
Result<void> check_title(std::string const& title);

}  // namespace runnel::store

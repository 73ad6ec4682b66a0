#pragma once

#include <string>

#include "runnel/core/error.h"
#include "runnel/store/rows.h"
#include "runnel/store/ticket_rows.h"

// What a request must hold whatever the engine: checked before it reaches one, so that both refuse the same
// things in the same words. Each fails with `invalid`.
namespace runnel::store {

Result<void> check(AdmitRequest const& request);
Result<void> check(ClaimRequest const& request);
Result<void> check(AppendRequest const& request);
Result<void> check(EndRequest const& request);
Result<void> check(ForceEndRequest const& request);
Result<void> check(DiscardRequest const& request);
Result<void> check(NewCall const& call);
Result<void> check(NewTicket const& ticket);
Result<void> check(ProfileRow const& profile);
Result<void> check_title(std::string const& title);

}  // namespace runnel::store

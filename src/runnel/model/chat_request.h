#pragma once

#include <string>

#include "runnel/model/profile.h"
#include "runnel/model/provider.h"

namespace runnel::model {

// The body of one streamed chat completion, as this provider's vendor takes it. What the vendor cannot do is
// left out or weakened (a required tool becomes a free choice where it would be refused while thinking).
std::string write_chat_request(CallRequest const& request, ProviderOptions const& options);

}  // namespace runnel::model

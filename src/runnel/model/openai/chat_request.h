#pragma once

#include <string>

#include "runnel/model/openai/vendor.h"
#include "runnel/model/provider.h"

namespace runnel::model {

// The request body of one streamed chat completion, as this provider's vendor accepts it. What the vendor
// cannot do is left out or weakened: a required tool becomes a free choice if the vendor refuses it while
// thinking.
std::string write_chat_request(CallRequest const& request, ProviderOptions const& options);

}  // namespace runnel::model

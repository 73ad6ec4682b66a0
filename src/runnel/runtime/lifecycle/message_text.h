#pragma once

#include <boost/json/fwd.hpp>

#include <string>
#include <string_view>
#include <variant>

#include "runnel/runtime/lifecycle/refusal.h"

namespace runnel::runtime {

// The text of a message's `content`: a plain string, or its text parts joined. `message` names the message in
// the refusal: "a user message".
std::variant<std::string, Refusal> content_text(boost::json::value const* content, std::string_view message);

}  // namespace runnel::runtime

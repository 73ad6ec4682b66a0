#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "runnel/api/message.h"
#include "runnel/core/fact/wire.h"
#include "runnel/http/routes/resume_point.h"

// What all routes that answer with an event stream read from their requests.
namespace runnel::http {

// The wire that ?dialect= and ?agui= name, or the refusal. `version` is that of AG-UI if the request names
// none.
std::variant<Wire, api::Response> wanted_wire(api::Request const& request, std::string const& version);

// The wire for an AG-UI client of this version; that of version 0.0 if the version is unknown.
Wire ag_ui_wire(std::string_view version);

// The last id that the client has. The header counts more than the parameter.
std::optional<std::string> last_event_id(api::Request const& request);

// `whose` stream it is: "run" or "thread".
api::Response bad_event_id(BadEventId const& bad, std::string_view whose);

}  // namespace runnel::http

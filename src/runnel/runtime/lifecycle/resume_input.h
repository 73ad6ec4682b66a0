#pragma once

#include <boost/json/fwd.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace runnel::runtime {

// How a client answers the interrupt at which its last run ended (AGUI-4).
struct ResumeAnswer {
  std::string interrupt;  // The id that the interrupt has in the stream.
  bool approved = false;
  std::string reason;  // For the model. Empty if there is none.
};

// What is wrong with `resume`, and what was expected.
struct BadResume {
  std::string what;
};

// Reads `resume` of a RunAgentInput. Empty if it is absent, null or an empty list: then the client asks
// something new.
std::variant<std::optional<ResumeAnswer>, BadResume> read_resume(boost::json::object const& body);

}  // namespace runnel::runtime

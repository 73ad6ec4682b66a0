#include "cli/project_cli/input.h"

#include <boost/json/value.hpp>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "runnel/core/json/parse.h"

namespace project_cli {

namespace json = boost::json;

namespace {

Refusal refuse(Call const& call, std::string code, std::string message) {
  return {call.module, call.method, std::move(code), std::move(message)};
}

// Nothing if it cannot be read to its end.
std::optional<std::string> read_all() {
  std::string text;
  std::array<char, 16384> piece{};
  while (text.size() <= kMostInputBytes) {
    auto const read = ::read(STDIN_FILENO, piece.data(), piece.size());
    if (read == 0) return text;
    if (read < 0 && errno == EINTR) continue;
    if (read < 0) return std::nullopt;
    text.append(piece.data(), static_cast<std::size_t>(read));
  }
  return text;
}

bool has_mode(json::object const& input, std::string const& mode) {
  auto const* const value = input.if_contains("mode");
  return value != nullptr && value->is_string() && value->get_string() == mode;
}

}  // namespace

std::variant<std::string, Refusal> read_input(Call const& call) {
  auto text = read_all();
  if (!text) {
    return refuse(call, "INVALID_INPUT", std::string{"the input cannot be read: "} + std::strerror(errno));
  }
  if (text->size() > kMostInputBytes) {
    return refuse(call, "INPUT_TOO_LARGE",
                  "the input has more than " + std::to_string(kMostInputBytes) + " bytes");
  }
  auto const parsed = runnel::parse_json(*text);
  if (auto const* const problem = std::get_if<runnel::JsonProblem>(&parsed)) {
    return refuse(call, "INVALID_INPUT", "the input is no JSON that can be used: " + to_string(*problem));
  }
  auto const* const input = std::get<json::value>(parsed).if_object();
  if (input == nullptr) return refuse(call, "INVALID_INPUT", "the input must be a JSON object");
  if (!call.mode.empty() && !has_mode(*input, call.mode)) {
    return refuse(call, "INVALID_INPUT",
                  "the option --mode is '" + call.mode + "', but the input's mode is another one");
  }
  return std::move(*text);
}

}  // namespace project_cli

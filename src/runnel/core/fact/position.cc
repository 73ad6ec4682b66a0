#include "runnel/core/fact/position.h"

#include <charconv>

#include "runnel/core/json/write.h"

namespace runnel {
namespace {

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
  if (text.size() > 1 && text.front() == '0') return std::nullopt;
  Number value{};
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

void append_position(std::string& out, Position position) {
  append_json_number(out, position.epoch);
  out += '-';
  append_json_number(out, position.n);
}

std::string to_string(Position position) {
  std::string out;
  append_position(out, position);
  return out;
}

std::optional<Position> parse_position(std::string_view text) {
  auto const dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  auto const epoch = parse_number<Epoch>(text.substr(0, dash));
  auto const n = parse_number<std::uint64_t>(text.substr(dash + 1));
  if (!epoch || !n || *n > INT64_MAX) return std::nullopt;
  return Position{*epoch, *n};
}

}  // namespace runnel

#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace runnel::modules::memory {

// A user has at most one memory of each kind.
enum class Kind { user, work_profile };

inline constexpr std::array kKinds{Kind::user, Kind::work_profile};

// Its name in inputs, rows and paths.
constexpr std::string_view to_string(Kind kind) {
  return kind == Kind::user ? "user" : "work_profile";
}

// Empty if there is no such kind.
constexpr std::optional<Kind> parse_kind(std::string_view name) {
  for (auto const kind : kKinds) {
    if (to_string(kind) == name) return kind;
  }
  return std::nullopt;
}

}  // namespace runnel::modules::memory

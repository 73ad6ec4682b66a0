#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace runnel {

// The ways to put a run's log on an SSE wire. The two versions of AG-UI are two dialects: their
// clients refuse each other's frames in places.
enum class Dialect : std::uint8_t { v2, ag_ui_1_0, ag_ui_0_0 };
inline constexpr std::array kAllDialects{Dialect::v2, Dialect::ag_ui_1_0, Dialect::ag_ui_0_0};
inline constexpr std::size_t kDialects = kAllDialects.size();

// From the query's `dialect` (empty: the default) and `agui`, which only ag-ui looks at.
std::optional<Dialect> parse_dialect(std::string_view dialect, std::string_view agui_version);

// A name for logs and metrics.
char const* to_string(Dialect dialect);

}  // namespace runnel

#include "runnel/core/dialect.h"

namespace runnel {

std::optional<Dialect> parse_dialect(std::string_view dialect, std::string_view agui_version) {
  if (dialect.empty() || dialect == "v2") return Dialect::v2;
  if (dialect == "ag-ui" && agui_version == "1.0") return Dialect::ag_ui_1_0;
  if (dialect == "ag-ui" && agui_version == "0.0") return Dialect::ag_ui_0_0;
  return std::nullopt;
}

char const* to_string(Dialect dialect) {
  switch (dialect) {
    case Dialect::v2:
      return "v2";
    case Dialect::ag_ui_1_0:
      return "ag-ui-1.0";
    case Dialect::ag_ui_0_0:
      return "ag-ui-0.0";
  }
  return "v2";
}

}  // namespace runnel

#pragma once

#include <vector>

#include "runnel/protocol/wires.h"

namespace runnel::protocol {

inline Wire const kV2 = find_wire("v2", "").value();
inline Wire const kAgUi1 = find_wire("ag-ui", "1.0").value();
inline Wire const kAgUi0 = find_wire("ag-ui", "0.0").value();

inline std::vector<Wire> every_wire() {
  std::vector<Wire> out;
  for (std::size_t i = 0; i < all_wires().size(); ++i)
    out.push_back(static_cast<Wire>(i));
  return out;
}

}  // namespace runnel::protocol

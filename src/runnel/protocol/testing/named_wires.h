#pragma once

#include <vector>

#include "runnel/protocol/wires.h"

namespace runnel::protocol {

inline Wire const kV2 = find_wire("v2", "").value();
inline Wire const kV1 = find_wire("v1", "").value();
inline Wire const kAgUi1 = find_wire("ag-ui", "1.0").value();
inline Wire const kAgUi0 = find_wire("ag-ui", "0.0").value();

inline Wire const kPolled = tasks_wire(Transport::poll);
inline Wire const kWebSocket = tasks_wire(Transport::web_socket);

inline std::vector<Wire> every_wire() {
  std::vector<Wire> out;
  for (std::size_t i = 0; i < all_wires().size(); ++i)
    out.push_back(static_cast<Wire>(i));
  return out;
}

inline Transport transport_of(Wire wire) {
  return all_wires()[static_cast<std::size_t>(wire)].transport;
}

}  // namespace runnel::protocol

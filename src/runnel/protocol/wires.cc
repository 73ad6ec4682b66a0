#include "runnel/protocol/wires.h"

#include <algorithm>
#include <array>

#include "runnel/protocol/ag_ui.h"
#include "runnel/protocol/poll_envelope.h"
#include "runnel/protocol/sse_envelope.h"
#include "runnel/protocol/tasks.h"
#include "runnel/protocol/v1.h"
#include "runnel/protocol/v2.h"
#include "runnel/protocol/web_socket_envelope.h"

namespace runnel::protocol {
namespace {

// The two versions of AG-UI are two rows, because each version's client refuses some frames of the other
// (AGUI-1).
constexpr std::array kWires{
    WireRow{"v2", "v2", "", Transport::sse, &encode_v2, &kSse},
    WireRow{"v1", "v1", "", Transport::sse, &encode_v1, &kSse},
    WireRow{"ag-ui-1.0", "ag-ui", "1.0", Transport::sse, &encode_ag_ui_1_0, &kSse},
    WireRow{"ag-ui-0.0", "ag-ui", "0.0", Transport::sse, &encode_ag_ui_0_0, &kSse},
    WireRow{"tasks-poll", "tasks", "", Transport::poll, &encode_tasks, &kPollElement},
    WireRow{"tasks-websocket", "tasks", "", Transport::web_socket, &encode_tasks, &kWebSocketText},
};

std::vector<std::string_view> distinct(std::string_view WireRow::*field) {
  std::vector<std::string_view> out;
  for (auto const& row : kWires) {
    auto const value = row.*field;
    if (row.transport == Transport::sse && !value.empty() &&
        std::find(out.begin(), out.end(), value) == out.end())
      out.push_back(value);
  }
  return out;
}

}  // namespace

std::span<WireRow const> all_wires() {
  return kWires;
}

std::string_view name_of(Wire wire) {
  return kWires.at(static_cast<std::size_t>(wire)).name;
}

std::string_view dialect_of(Wire wire) {
  return kWires.at(static_cast<std::size_t>(wire)).dialect;
}

std::optional<Wire> find_wire(std::string_view dialect, std::string_view version) {
  auto const wanted = dialect.empty() ? kWires.front().dialect : dialect;
  auto const found = std::find_if(kWires.begin(), kWires.end(), [&](WireRow const& row) {
    return row.transport == Transport::sse && row.dialect == wanted &&
           (row.version.empty() || row.version == version);
  });
  if (found == kWires.end()) return std::nullopt;
  return static_cast<Wire>(found - kWires.begin());
}

Wire tasks_wire(Transport transport) {
  auto const found = std::find_if(kWires.begin(), kWires.end(), [&](WireRow const& row) {
    return row.transport == transport && row.dialect == "tasks";
  });
  return static_cast<Wire>(found - kWires.begin());
}

bool is_durable_only(Wire wire) {
  return kWires.at(static_cast<std::size_t>(wire)).transport != Transport::sse;
}

std::vector<std::string_view> dialect_names() {
  return distinct(&WireRow::dialect);
}

std::vector<std::string_view> dialect_versions() {
  return distinct(&WireRow::version);
}

void encode(Wire wire, RunNames const& names, Record const& record, std::string& out) {
  auto const& row = kWires[static_cast<std::size_t>(wire)];
  row.codec(names, record, *row.envelope, out);
}

}  // namespace runnel::protocol

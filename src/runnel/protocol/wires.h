#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runnel/core/fact/fact.h"
#include "runnel/core/fact/run_names.h"
#include "runnel/core/fact/wire.h"
#include "runnel/protocol/envelope.h"

// All ways to put a run's log on the wire. A new dialect needs a file with its codec and a row in wires.cc.
namespace runnel::protocol {

// Appends at most one event for the record (WIRE-1), in the given envelope. It is a pure function, so every
// replay has the same bytes. For a delta it allocates nothing but what `out` needs to grow.
using Codec = void (*)(RunNames const& names, Record const& record, Envelope const& envelope,
                       std::string& out);

enum class Transport {
  sse,         // Event streams: clients name the dialect by ?dialect=.
  poll,        // Answers to polls (TASK-2).
  web_socket,  // TASK-5.
};

struct WireRow {
  std::string_view name;     // In metrics, logs and file names.
  std::string_view dialect;  // For event streams, the value of ?dialect=.
  std::string_view version;  // The value of ?agui=; empty if the dialect has no versions.
  Transport transport;
  Codec codec;
  Envelope const* envelope;
};

// A Wire is the index of its row. A client that names no dialect gets the first row.
std::span<WireRow const> all_wires();

std::string_view name_of(Wire wire);
std::string_view dialect_of(Wire wire);

// The wire of an event stream. Empty if there is no such dialect or no such version of it. An empty `dialect`
// means the default one. A dialect without versions accepts any version.
std::optional<Wire> find_wire(std::string_view dialect, std::string_view version);

// The wire of the dialect tasks on a transport other than `sse`.
Wire tasks_wire(Transport transport);

// Whether its readers get only what is durable. An event stream shows deltas before that (SSE-7), because its
// ids say so if a crash takes them; an `idx` cannot (TASK-3).
bool is_durable_only(Wire wire);

// The values that ?dialect= and ?agui= may have, without duplicates.
std::vector<std::string_view> dialect_names();
std::vector<std::string_view> dialect_versions();

// Appends the record's event on that wire to `out`; nothing if its dialect does not show the record.
void encode(Wire wire, RunNames const& names, Record const& record, std::string& out);

}  // namespace runnel::protocol

#include "runnel/http/routes/stream_request.h"

#include <fmt/format.h>

#include <algorithm>

#include "runnel/api/problem.h"
#include "runnel/protocol/wires.h"

namespace runnel::http {

namespace {

// Names the parameter that is wrong: the dialect, or else the version.
api::Response unknown_dialect(std::string_view dialect) {
  auto const names = protocol::dialect_names();
  bool const known = dialect.empty() || std::find(names.begin(), names.end(), dialect) != names.end();
  auto const wanted = known ? protocol::dialect_versions() : names;
  return api::problem(400, "UNKNOWN_DIALECT",
                      fmt::format("The query parameter '{}' must be {}.", known ? "agui" : "dialect",
                                  fmt::join(wanted, " or ")));
}

}  // namespace

std::variant<Wire, api::Response> wanted_wire(api::Request const& request, std::string const& version) {
  auto const dialect = request.query("dialect").value_or("");
  auto const wire = protocol::find_wire(dialect, request.query("agui").value_or(version));
  if (!wire) return unknown_dialect(dialect);
  return *wire;
}

Wire ag_ui_wire(std::string_view version) {
  auto const wire = protocol::find_wire("ag-ui", version);
  return wire ? *wire : protocol::find_wire("ag-ui", "0.0").value();
}

std::optional<std::string> last_event_id(api::Request const& request) {
  if (auto const header = request.header("Last-Event-ID")) return std::string{*header};
  return request.query("lastEventId");
}

api::Response bad_event_id(BadEventId const& bad, std::string_view whose) {
  return api::problem(
      400, "INVALID_EVENT_ID",
      fmt::format("The Last-Event-ID {}. Send the last `id:` that you have read from this {}'s "
                  "stream, two numbers such as 1794810974413-8, or leave it out.",
                  bad.why, whose));
}

}  // namespace runnel::http

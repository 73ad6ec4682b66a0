#include "runnel/runtime/execution/context_rows.h"

#include <boost/json.hpp>

#include <utility>

#include "runnel/core/json/parse.h"

namespace runnel::runtime {

namespace json = boost::json;
using flow::ContextRow;

namespace {

std::string member(json::value const& metadata, std::string_view key) {
  auto const* object = metadata.if_object();
  auto const* value = object != nullptr ? object->if_contains(key) : nullptr;
  return value != nullptr && value->is_string() ? std::string{value->get_string()} : std::string{};
}

// Only the rows of tool calls have a "tool_call_id"; the metadata of other rows needs no parsing.
bool is_of_a_tool(store::MessageRow const& row) {
  return row.metadata.find("\"tool_call_id\"") != std::string::npos;
}

ContextRow convert(store::MessageRow row, RunId const& own) {
  ContextRow out;
  out.is_input = row.run == own;
  out.content = std::move(row.content);
  if (row.role == store::Role::user) return out;
  out.kind = ContextRow::Kind::assistant;
  if (!is_of_a_tool(row)) return out;
  auto const metadata = parse_stored_json(row.metadata).value();
  out.kind = row.role == store::Role::tool ? ContextRow::Kind::tool_result : ContextRow::Kind::tool_call;
  out.call_id = member(metadata, "tool_call_id");
  out.tool = member(metadata, "tool_name");
  out.reasoning = member(metadata, "reasoning");
  return out;
}

}  // namespace

std::vector<ContextRow> context_rows(std::vector<store::MessageRow> rows, RunId const& own) {
  std::vector<ContextRow> out;
  out.reserve(rows.size());
  for (auto& row : rows) {
    if (row.role != store::Role::system) out.push_back(convert(std::move(row), own));
  }
  return out;
}

}  // namespace runnel::runtime

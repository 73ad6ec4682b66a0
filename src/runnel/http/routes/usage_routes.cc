#include "runnel/http/routes/usage_routes.h"

#include <memory>
#include <utility>
#include <variant>

#include "runnel/api/number_query.h"
#include "runnel/api/problem.h"
#include "runnel/core/json/write.h"
#include "runnel/core/text/base64url.h"
#include "runnel/core/time/instant.h"
#include "runnel/http/routes/report_gate.h"

namespace runnel::http {

namespace asio = boost::asio;

namespace {

api::Response invalid(std::string const& message) {
  return api::problem(400, "INVALID_REQUEST", message);
}

std::optional<store::UsageGroup> parse_group(std::string const& text) {
  using store::UsageGroup;
  if (text == "thread") return UsageGroup::thread;
  if (text == "model") return UsageGroup::model;
  if (text == "day") return UsageGroup::day;
  return std::nullopt;
}

// What is wrong with the parameter. Empty if it is absent or has set `instant`.
std::optional<api::Response> read_instant(api::Request const& request, char const* name,
                                          std::optional<std::int64_t>& instant) {
  auto const text = request.query(name);
  if (!text) return std::nullopt;
  instant = parse_instant(*text);
  if (instant) return std::nullopt;
  return invalid(
      std::string{"'"} + name +
      "' must be an RFC 3339 instant such as 2026-01-02T03:04:05Z, or a date such as 2026-01-02 (UTC)");
}

constexpr std::int64_t kDefaultGroups = 200;
constexpr std::int64_t kMostGroups = 1000;

// A cursor names the grouping, so that a cursor of another report is detected.
std::string make_cursor(store::UsageGroup group, std::string const& key) {
  return base64url_encode(std::to_string(static_cast<int>(group)) + ":" + key);
}

// What is wrong with the cursor. Empty if it is absent or has set `after`.
std::optional<api::Response> read_cursor(api::Request const& request, store::UsageGroup group,
                                         std::string& after) {
  auto const text = request.query("cursor").value_or("");
  if (text.empty()) return std::nullopt;
  auto const decoded = base64url_decode(text);
  auto const prefix = std::to_string(static_cast<int>(group)) + ":";
  if (decoded && group != store::UsageGroup::none && decoded->starts_with(prefix)) {
    after = decoded->substr(prefix.size());
    return std::nullopt;
  }
  return invalid("'cursor' must be the nextCursor of a page with the same groupBy");
}

std::variant<store::UsageQuery, api::Response> usage_query(api::Request const& request) {
  store::UsageQuery query;
  query.owner = request.user;
  if (auto thread = request.query("threadId")) query.thread = ThreadId{std::move(*thread)};
  if (auto bad = read_instant(request, "from", query.from)) return std::move(*bad);
  if (auto bad = read_instant(request, "to", query.to)) return std::move(*bad);
  if (query.from && query.to && *query.from > *query.to) return invalid("'from' must not be after 'to'");
  if (auto const text = request.query("groupBy")) {
    auto const group = parse_group(*text);
    if (!group) return invalid("'groupBy' must be thread, model or day");
    query.group = *group;
  }
  auto limit = api::number_query(request, "limit", 1, kMostGroups);
  if (auto* bad = std::get_if<api::Response>(&limit)) return std::move(*bad);
  query.limit = static_cast<std::size_t>(std::get<0>(limit).value_or(kDefaultGroups));
  if (auto bad = read_cursor(request, query.group, query.after)) return std::move(*bad);
  return query;
}

void append_counts(JsonObject& object, store::UsageRow const& row) {
  object.number("calls", row.calls)
      .number("inputTokens", row.input_tokens)
      .number("outputTokens", row.output_tokens)
      .number("cachedTokens", row.cached_tokens)
      .number("reasoningTokens", row.reasoning_tokens)
      .text("cost", row.cost)
      .boolean("usageComplete", row.complete);
}

std::string to_json(store::UsageReport const& report, store::UsageGroup group_by) {
  std::string body;
  JsonObject object{body};
  object.text("currency", report.currency);
  JsonObject total{object.key("total")};
  append_counts(total, report.total);
  total.close();
  append_json_array(object.key("groups"), report.rows, [](std::string& out, auto const& row) {
    JsonObject group{out};
    group.text("key", row.key);
    append_counts(group, row);
    group.close();
  });
  if (report.more) object.text("nextCursor", make_cursor(group_by, report.rows.back().key));
  object.close();
  return body;
}

asio::awaitable<api::Reply> show_usage(store::Store& store, std::shared_ptr<ReportGate> gate,
                                       api::Request request) {
  auto query = usage_query(request);
  if (auto* bad = std::get_if<api::Response>(&query)) co_return std::move(*bad);
  ReportGate::Slot const slot{std::move(gate), request.user};
  if (slot.verdict() != ReportGate::Verdict::enters) co_return too_many_reports(slot.verdict());
  auto const group_by = std::get<store::UsageQuery>(query).group;
  auto const report = co_await store.usage(std::get<store::UsageQuery>(std::move(query)));
  if (!report && report.error().code == Errc::not_found) {
    co_return api::problem(404, "NOT_FOUND", "You have no such thread.");
  }
  if (!report) co_return api::problem_from(report.error(), request.request_id);
  co_return api::json_response(200, to_json(*report, group_by));
}

}  // namespace

void add_usage_route(api::Router& router, store::Store& store) {
  auto const gate = std::make_shared<ReportGate>(ReportGate::Limits{});
  router.add(api::Method::get, "/api/v1/usage", api::Access::user,
             [&store, gate](api::Request request) { return show_usage(store, gate, std::move(request)); });
}

}  // namespace runnel::http

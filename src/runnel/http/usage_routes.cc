#include "runnel/http/usage_routes.h"

#include <utility>
#include <variant>

#include "runnel/core/json_write.h"
#include "runnel/http/problem.h"
#include "runnel/http/text_forms.h"

namespace runnel::http {

namespace asio = boost::asio;

namespace {

Response invalid(std::string const& message) {
  return problem(400, "INVALID_REQUEST", message);
}

std::optional<store::UsageGroup> parse_group(std::string const& text) {
  using store::UsageGroup;
  if (text == "thread") return UsageGroup::thread;
  if (text == "model") return UsageGroup::model;
  if (text == "day") return UsageGroup::day;
  return std::nullopt;
}

// What is wrong with the parameter; none: it is absent or has given `instant`.
std::optional<Response> read_instant(Request const& request, char const* name,
                                     std::optional<std::int64_t>& instant) {
  auto const text = request.query(name);
  if (!text) return std::nullopt;
  instant = parse_instant(*text);
  if (instant) return std::nullopt;
  return invalid(
      std::string{"'"} + name +
      "' must be an RFC 3339 instant such as 2026-01-02T03:04:05Z, or a date such as 2026-01-02 (UTC)");
}

std::variant<store::UsageQuery, Response> usage_query(Request const& request) {
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

std::string to_json(store::UsageReport const& report) {
  std::string body;
  JsonObject object{body};
  object.text("currency", report.currency);
  JsonObject total{object.key("total")};
  append_counts(total, report.total);
  total.close();
  auto& list = object.key("groups");
  list += '[';
  for (auto const& row : report.rows) {
    if (list.back() != '[') list += ',';
    JsonObject group{list};
    group.text("key", row.key);
    append_counts(group, row);
    group.close();
  }
  list += ']';
  object.close();
  return body;
}

asio::awaitable<Reply> show_usage(store::Store& store, Request request) {
  auto query = usage_query(request);
  if (auto* bad = std::get_if<Response>(&query)) co_return std::move(*bad);
  auto const report = co_await store.usage(std::get<store::UsageQuery>(std::move(query)));
  if (!report && report.error().code == Errc::not_found) {
    co_return problem(404, "NOT_FOUND", "no such thread");
  }
  if (!report) co_return problem_from(report.error(), request.request_id);
  co_return json_response(200, to_json(*report));
}

}  // namespace

void add_usage_route(Router& router, store::Store& store) {
  router.add(Method::get, "/api/v1/usage", Access::user,
             [&store](Request request) { return show_usage(store, std::move(request)); });
}

}  // namespace runnel::http

#include "runnel/modules/memory/routes.h"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "runnel/api/body_check.h"
#include "runnel/api/problem.h"
#include "runnel/core/json/write.h"
#include "runnel/core/time/instant.h"
#include "runnel/modules/memory/content.h"
#include "runnel/modules/memory/repository.h"
#include "runnel/modules/memory/schemas.h"
#include "runnel/modules/storage.h"

namespace runnel::modules::memory {

namespace asio = boost::asio;
namespace json = boost::json;

namespace {

// How often a change is made again because another one came between. The chance shrinks with each time.
constexpr int kMostTries = 5;
constexpr std::size_t kMemoryAnswer = kMostContentBytes + 1024;

struct MemoryRoutes {
  Context context;
  Repository repository;
  Mode mode;  // What a change does.
};

api::Response no_such_kind() {
  return api::problem(404, "NOT_FOUND",
                      "There is no such kind of memory. The kinds are user and work_profile.");
}

api::Response memory_storage_full() {
  return api::problem(507, "STORAGE_QUOTA_EXCEEDED",
                      "You have no storage left. Delete something, such as threads or contacts.");
}

api::Response shown_memory(Kind kind, std::string const& content, std::optional<std::int64_t> updated_at) {
  std::string body;
  JsonObject object{body};
  object.text("kind", to_string(kind)).raw("content", content);
  if (updated_at) {
    object.text("updated_at", to_rfc3339(*updated_at));
  } else {
    object.null("updated_at");
  }
  object.close();
  return api::json_response(200, std::move(body));
}

api::Response shown_stored(Kind kind, std::optional<Memory> const& memory) {
  if (!memory) return shown_memory(kind, "{}", std::nullopt);
  return shown_memory(kind, memory->content, memory->updated_at);
}

// What is wrong with a body for this kind. The document cannot tell it, because the kind is in the path.
std::vector<base::Violation> faults_in(json::value const& body, Kind kind) {
  auto faults = content_schema(kind).check(body);
  return faults.empty() ? check_content(body.as_object()) : faults;
}

// The memory after the change in the request, or what the request is refused with.
std::variant<json::object, api::Response> changed(std::optional<Memory> const& memory,
                                                  api::Request const& request, Mode mode) {
  auto stored = memory ? json::parse(memory->content).as_object() : json::object{};
  auto made = update(std::move(stored), request.json().as_object(), mode);
  if (auto const* const limit = std::get_if<base::Violation>(&made)) return api::invalid_request({*limit});
  return std::get<json::object>(std::move(made));
}

bool is_unchanged(std::optional<Memory> const& memory, json::object const& content) {
  return memory ? json::parse(memory->content) == content : content.empty();
}

asio::awaitable<api::Reply> show_memory(MemoryRoutes routes, api::Request request) {
  auto const kind = parse_kind(request.param("kind"));
  if (!kind) co_return no_such_kind();
  auto const found = co_await routes.repository.find(request.user, *kind);
  if (!found) co_return api::problem_from(found.error(), request.request_id);
  co_return shown_stored(*kind, *found);
}

asio::awaitable<api::Reply> write_change(MemoryRoutes routes, api::Request request, Kind kind) {
  for (int tries = 1;; ++tries) {
    auto const found = co_await routes.repository.find(request.user, kind);
    if (!found) co_return api::problem_from(found.error(), request.request_id);
    auto made = changed(*found, request, routes.mode);
    if (auto* const refusal = std::get_if<api::Response>(&made)) co_return std::move(*refusal);
    auto const& content = std::get<json::object>(made);
    if (is_unchanged(*found, content)) co_return shown_stored(kind, *found);
    auto const text = json::serialize(content);
    auto const now = routes.context.clock.now_ms();
    auto const put = co_await routes.repository.put(request.user, kind, *found, text, now);
    if (put && content.empty()) co_return shown_stored(kind, std::nullopt);
    if (put) co_return shown_memory(kind, text, now);
    bool const again = put.error().code == Errc::conflict && tries < kMostTries;
    if (!again) co_return api::problem_from(put.error(), request.request_id);
  }
}

asio::awaitable<api::Reply> change_memory(MemoryRoutes routes, api::Request request) {
  auto const kind = parse_kind(request.param("kind"));
  if (!kind) co_return no_such_kind();
  auto const faults = faults_in(request.json(), *kind);
  if (!faults.empty()) co_return api::invalid_request(faults);
  auto const full =
      co_await is_storage_full(routes.context.sql, request.user, routes.context.storage_bytes_per_user);
  if (!full) co_return api::problem_from(full.error(), request.request_id);
  if (*full) co_return memory_storage_full();
  auto reply = co_await write_change(routes, std::move(request), *kind);
  co_return reply;
}

asio::awaitable<api::Reply> forget_memory(MemoryRoutes routes, api::Request request) {
  auto const kind = parse_kind(request.param("kind"));
  if (!kind) co_return no_such_kind();
  auto const forgotten = co_await routes.repository.forget(request.user, *kind);
  if (!forgotten) co_return api::problem_from(forgotten.error(), request.request_id);
  co_return api::empty_response(204);
}

}  // namespace

void add_memory_routes(api::Router& router, Context const& context) {
  auto const with = [&](asio::awaitable<api::Reply> (*handle)(MemoryRoutes, api::Request),
                        Mode mode = Mode::merge) -> api::Handler {
    MemoryRoutes const routes{context, Repository{context.sql}, mode};
    return [routes, handle](api::Request request) { return handle(routes, std::move(request)); };
  };
  std::string const path = "/api/v1/memory/{kind}";
  api::RouteOptions const options{.answer_bytes = kMemoryAnswer};
  router.add(api::Method::get, path, api::Access::user, with(&show_memory), options);
  router.add(api::Method::put, path, api::Access::user, with(&change_memory, Mode::replace), options);
  router.add(api::Method::patch, path, api::Access::user, with(&change_memory, Mode::merge), options);
  router.add(api::Method::del, path, api::Access::user, with(&forget_memory));
}

}  // namespace runnel::modules::memory

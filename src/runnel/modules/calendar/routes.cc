#include "runnel/modules/calendar/routes.h"

#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "runnel/api/problem.h"
#include "runnel/core/json/parse.h"
#include "runnel/core/text/locale_names.h"
#include "runnel/core/text/text.h"
#include "runnel/core/time/instant.h"
#include "runnel/modules/calendar/actions.h"
#include "runnel/modules/calendar/event_json.h"
#include "runnel/modules/calendar/input.h"
#include "runnel/modules/calendar/recurrence/occurrences.h"
#include "runnel/modules/storage.h"

namespace runnel::modules::calendar {

namespace asio = boost::asio;
namespace json = boost::json;

namespace {

constexpr std::size_t kMostListed = 1000;
constexpr std::size_t kMostInvitesListed = 200;
// Of a description, a list shows so many characters: all answers of a user together must not fill the memory.
constexpr std::int64_t kListedDescription = 500;
// As large as a list of long descriptions may become.
constexpr std::size_t kListAnswer = std::size_t{2} * 1024 * 1024;
// How often a change is made again because another one came between. The chance shrinks with each time.
constexpr int kMostTries = 5;
constexpr char kUtc[] = "UTC";

struct CalendarRoutes {
  Context context;
  Repository repository;
};

using Handle = asio::awaitable<api::Reply> (*)(CalendarRoutes, api::Request);
using RunAction = store::Async<ItemAnswer> (*)(Repository, Action);

api::Response bad_request(std::string const& message) {
  return api::problem(400, "INVALID_REQUEST", message);
}

api::Response refused(MethodFailure const& failure) {
  if (failure.code == kNoOccurrence) return api::problem(404, failure.code, failure.message);
  if (failure.code == kNotFound)
    return api::problem(404, failure.code, "There is no such event or invitation.");
  if (failure.code == kNotOrganizer) {
    return api::problem(403, failure.code,
                        "You are invited to this event, and only who made it can do this. To remove it from "
                        "your calendar, reject the invitation.");
  }
  if (failure.code == kInvalidInput) return bad_request(failure.message);
  return api::problem(400, failure.code, failure.message);
}

api::Response storage_full() {
  return api::problem(507, "STORAGE_QUOTA_EXCEEDED",
                      "You have no storage left. Delete something, such as threads or events.");
}

void append_stamped(JsonObject& object, Event const& event) {
  append_event_fields(object, event);
  object.text("created_at", to_rfc3339(event.created_at)).text("updated_at", to_rfc3339(event.updated_at));
}

void append_listed(std::string& out, Event const& event) {
  auto const shown =
      first_code_points(event.description, static_cast<std::size_t>(kListedDescription)).size();
  bool const cut = shown < event.description.size();
  JsonObject object{out};
  if (cut) {
    auto shorter = event;
    shorter.description.resize(shown);
    append_stamped(object, shorter);
    object.boolean("description_cut", true);
  } else {
    append_stamped(object, event);
  }
  object.close();
}

// The event, with what the data of the action has besides it.
api::Response shown(int status, Event const& event, std::string const& data, std::int64_t now_ms) {
  std::string body;
  JsonObject object{body};
  append_stamped(object, event);
  append_series_details(object, event, now_ms);
  if (auto const parsed = parse_stored_json(data)) {
    for (auto const* const field : {"series_id", "conflicts"}) {
      auto const* const value = parsed->as_object().if_contains(field);
      if (value != nullptr) object.raw(field, json::serialize(*value));
    }
  }
  object.close();
  return api::json_response(status, std::move(body));
}

std::string event_id_in(std::string const& data) {
  auto const parsed = parse_stored_json(data);
  return parsed ? text_of(parsed->as_object(), "event_id") : "";
}

Action to_action(CalendarRoutes const& routes, api::Request const& request, json::object input) {
  return {request.user, kUtc, std::move(input), routes.context.clock.now_ms()};
}

// The body with the event or the invitation of the path.
json::object input_of(api::Request const& request, char const* param) {
  json::object input;
  if (request.parsed_body && request.json().is_object()) input = request.json().as_object();
  input[param] = request.param(param);
  return input;
}

store::Async<bool> is_full(CalendarRoutes routes, UserId user) {
  return is_storage_full(routes.context.sql, std::move(user), routes.context.storage_bytes_per_user);
}

struct Written {
  std::string data;
};

// What an action has come to once its effect is written.
using WriteAnswer = std::variant<Written, api::Response>;

// Runs the action and writes its effect. If another change came between, the action is made again on top of
// it.
asio::awaitable<WriteAnswer> act(CalendarRoutes routes, api::Request request, json::object input,
                                 RunAction action) {
  for (int tries = 1;; ++tries) {
    auto answer = co_await action(routes.repository, to_action(routes, request, input));
    if (!answer) co_return WriteAnswer{api::problem_from(answer.error(), request.request_id)};
    if (auto const* const failure = std::get_if<MethodFailure>(&*answer))
      co_return WriteAnswer{refused(*failure)};
    auto done = std::get<ItemDone>(std::move(*answer));
    if (done.effect.empty()) co_return WriteAnswer{Written{std::move(done.data)}};
    auto const written = co_await routes.context.sql.write(std::move(done.effect));
    if (written) co_return WriteAnswer{Written{std::move(done.data)}};
    bool const again = written.error().code == Errc::conflict && tries < kMostTries;
    if (!again) co_return WriteAnswer{api::problem_from(written.error(), request.request_id)};
  }
}

asio::awaitable<api::Reply> show_written(CalendarRoutes routes, api::Request request, int status,
                                         Written written) {
  auto const found = co_await routes.repository.find(request.user, event_id_in(written.data));
  if (!found) co_return api::problem_from(found.error(), request.request_id);
  if (!*found) co_return refused({kNotFound, ""});
  co_return shown(status, **found, written.data, routes.context.clock.now_ms());
}

asio::awaitable<api::Reply> write_and_show(CalendarRoutes routes, api::Request request, json::object input,
                                           RunAction action, int status) {
  auto const full = co_await is_full(routes, request.user);
  if (!full) co_return api::problem_from(full.error(), request.request_id);
  if (*full) co_return storage_full();
  auto done = co_await act(routes, request, std::move(input), action);
  if (auto* const response = std::get_if<api::Response>(&done)) co_return std::move(*response);
  auto reply = co_await show_written(routes, std::move(request), status, std::get<Written>(std::move(done)));
  co_return reply;
}

asio::awaitable<api::Reply> write_and_tell(CalendarRoutes routes, api::Request request, json::object input,
                                           RunAction action) {
  auto done = co_await act(routes, std::move(request), std::move(input), action);
  if (auto* const response = std::get_if<api::Response>(&done)) co_return std::move(*response);
  co_return api::json_response(200, std::get<Written>(std::move(done)).data);
}

asio::awaitable<api::Reply> add_event_route(CalendarRoutes routes, api::Request request) {
  auto input = request.json().as_object();
  return write_and_show(routes, std::move(request), std::move(input), &create_event, 201);
}

asio::awaitable<api::Reply> change_event_route(CalendarRoutes routes, api::Request request) {
  auto input = input_of(request, "event_id");
  return write_and_show(routes, std::move(request), std::move(input), &update_event, 200);
}

asio::awaitable<api::Reply> delete_event_route(CalendarRoutes routes, api::Request request) {
  auto input = input_of(request, "event_id");
  if (auto const occurrence = request.query("occurrence_start")) input["occurrence_start"] = *occurrence;
  auto done = co_await act(routes, std::move(request), std::move(input), &delete_event);
  if (auto* const response = std::get_if<api::Response>(&done)) co_return std::move(*response);
  co_return api::empty_response(204);
}

asio::awaitable<api::Reply> share_event_route(CalendarRoutes routes, api::Request request) {
  auto const full = co_await is_full(routes, request.user);
  if (!full) co_return api::problem_from(full.error(), request.request_id);
  if (*full) co_return storage_full();
  auto input = input_of(request, "event_id");
  auto reply = co_await write_and_tell(routes, std::move(request), std::move(input), &share_event);
  co_return reply;
}

asio::awaitable<api::Reply> accept_invite_route(CalendarRoutes routes, api::Request request) {
  auto input = input_of(request, "invite_id");
  return write_and_tell(routes, std::move(request), std::move(input), &accept_invite);
}

asio::awaitable<api::Reply> reject_invite_route(CalendarRoutes routes, api::Request request) {
  auto input = input_of(request, "invite_id");
  return write_and_tell(routes, std::move(request), std::move(input), &reject_invite);
}

api::Response shown_with_guests(Event const& event, std::vector<Guest> const& guests, std::int64_t now_ms) {
  std::string body;
  JsonObject object{body};
  append_stamped(object, event);
  append_series_details(object, event, now_ms);
  if (event.invite_id.empty()) append_guests(object.key("guests"), guests);
  object.close();
  return api::json_response(200, std::move(body));
}

asio::awaitable<api::Reply> show_event_route(CalendarRoutes routes, api::Request request) {
  auto const found = co_await routes.repository.find(request.user, request.param("event_id"));
  if (!found) co_return api::problem_from(found.error(), request.request_id);
  if (!*found) co_return refused({kNotFound, ""});
  auto const guests = co_await routes.repository.guests((*found)->id);
  if (!guests) co_return api::problem_from(guests.error(), request.request_id);
  co_return shown_with_guests(**found, *guests, routes.context.clock.now_ms());
}

Read<Window> window_of(api::Request const& request) {
  auto const zone = request.query("timezone").value_or(kUtc);
  if (!is_zone_name(zone))
    return MethodFailure{kInvalidInput,
                         "'timezone' must be a time zone in the IANA database, such as Europe/Berlin"};
  return read_range({request.query("from").value_or(""), request.query("to").value_or(""), "'from'", "'to'"},
                    zone);
}

api::Response listed(std::vector<Event> const& events) {
  if (events.size() > kMostListed) {
    return api::problem(400, "TOO_MANY_RESULTS",
                        "There are more than " + std::to_string(kMostListed) +
                            " events in this range. Ask for a shorter one.");
  }
  std::string body;
  JsonObject object{body};
  append_json_array(object.key("items"), events, append_listed);
  object.number("count", static_cast<std::int64_t>(events.size())).close();
  return api::json_response(200, std::move(body));
}

// A plain function, because g++ 12 mishandles braces inside coroutines (CONTRIBUTING.md).
Search search_for_listed(UserId user, Window const& window) {
  return {std::move(user), window, kMostListed + 1, {Pending::shown, kListedDescription + 1}};
}

asio::awaitable<api::Reply> list_events_route(CalendarRoutes routes, api::Request request) {
  auto read = window_of(request);
  if (auto const* const failure = std::get_if<MethodFailure>(&read)) co_return refused(*failure);
  auto const found =
      co_await events_in(routes.repository, search_for_listed(request.user, std::get<Window>(read)));
  if (!found) co_return api::problem_from(found.error(), request.request_id);
  co_return listed(*found);
}

api::Response listed_invites(std::vector<Event> events) {
  bool const more = events.size() > kMostInvitesListed;
  if (more) events.resize(kMostInvitesListed);
  std::string body;
  JsonObject object{body};
  append_json_array(object.key("items"), events, append_listed);
  object.number("count", static_cast<std::int64_t>(events.size())).boolean("more", more).close();
  return api::json_response(200, std::move(body));
}

asio::awaitable<api::Reply> list_invites_route(CalendarRoutes routes, api::Request request) {
  auto status = request.query("status").value_or("pending");
  if (status != "pending" && status != "accepted" && status != "rejected")
    co_return bad_request("'status' must be pending, accepted or rejected");
  auto found = co_await routes.repository.invites(request.user, std::move(status), kMostInvitesListed + 1,
                                                  kListedDescription + 1);
  if (!found) co_return api::problem_from(found.error(), request.request_id);
  co_return listed_invites(std::move(*found));
}

}  // namespace

void add_calendar_routes(api::Router& router, Context const& context) {
  CalendarRoutes const routes{context, Repository{context.sql}};
  auto const with = [routes](Handle handle) -> api::Handler {
    return [routes, handle](api::Request request) { return handle(routes, std::move(request)); };
  };
  using api::Access;
  using api::Method;
  std::string const events = "/api/v1/calendar/events";
  std::string const event = events + "/{event_id}";
  std::string const invites = "/api/v1/calendar/invites";
  std::string const invite = invites + "/{invite_id}";
  router.add(Method::get, events, Access::user, with(&list_events_route), {.answer_bytes = kListAnswer});
  router.add(Method::post, events, Access::user, with(&add_event_route));
  router.add(Method::get, event, Access::user, with(&show_event_route));
  router.add(Method::patch, event, Access::user, with(&change_event_route));
  router.add(Method::del, event, Access::user, with(&delete_event_route));
  router.add(Method::post, event + "/share", Access::user, with(&share_event_route));
  router.add(Method::get, invites, Access::user, with(&list_invites_route), {.answer_bytes = kListAnswer});
  router.add(Method::post, invite + "/accept", Access::user, with(&accept_invite_route));
  router.add(Method::post, invite + "/reject", Access::user, with(&reject_invite_route));
}

}  // namespace runnel::modules::calendar

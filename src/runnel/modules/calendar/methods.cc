#include "runnel/modules/calendar/methods.h"

#include <boost/json/value.hpp>

#include <set>
#include <string>
#include <utility>
#include <variant>

#include "kAcceptInviteInput.inc"
#include "kReadInput.inc"
#include "kRejectInviteInput.inc"
#include "runnel/modules/calendar/actions.h"
#include "runnel/modules/calendar/event_json.h"
#include "runnel/modules/calendar/input.h"
#include "runnel/modules/calendar/recurrence/occurrences.h"
#include "runnel/modules/calendar/schemas/schemas.h"

namespace runnel::modules::calendar {

using store::Async;

namespace {

namespace json = boost::json;
using RunAction = Async<ItemAnswer> (*)(Repository, Action);

// Whether an action is also done when the user has no storage left.
enum class Storage : bool { needed, not_needed };

Action to_action(MethodCall const& call, json::object input) {
  return {call.user, call.preferences.timezone, std::move(input), call.now_ms};
}

MethodAnswer with_storage(MethodAnswer answer, Storage storage) {
  if (auto* const result = std::get_if<MethodResult>(&answer))
    result->takes_storage = storage == Storage::needed;
  return answer;
}

MethodAnswer to_answer(ItemAnswer item) {
  if (auto* const failure = std::get_if<MethodFailure>(&item)) return std::move(*failure);
  auto& done = std::get<ItemDone>(item);
  return MethodResult{std::move(done.data), std::move(done.effect)};
}

MethodFailure bad_item(std::string const& fault) {
  return {kInvalidInput, fault};
}

MethodFailure repeated_item() {
  return {kInvalidInput, "event_id is that of an earlier item; an event can be in a batch only once"};
}

Async<MethodAnswer> run_batch(Repository repository, MethodCall call, RunAction action, Storage storage) {
  std::vector<ItemAnswer> answers;
  std::set<std::string> seen;
  auto const series = co_await load_series(repository, call.user, Pending::left_out);
  if (!series) co_return series.error();
  auto const batch = std::make_shared<Batch>();
  batch->series = *series;
  auto const& items = call.input.at("items").as_array();
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!call.item_faults.at(i).empty()) {
      answers.emplace_back(bad_item(call.item_faults[i]));
      continue;
    }
    auto const id = text_of(items[i].as_object(), "event_id");
    if (!id.empty() && !seen.insert(id).second) {
      answers.emplace_back(repeated_item());
      continue;
    }
    auto asked = to_action(call, items[i].as_object());
    asked.batch = batch;
    auto answer = co_await action(repository, std::move(asked));
    if (!answer) co_return answer.error();
    answers.push_back(std::move(*answer));
  }
  co_return with_storage(join_items(std::move(answers)), storage);
}

Async<MethodAnswer> run_single(Repository repository, MethodCall call, RunAction action, Storage storage) {
  auto answer = co_await action(repository, to_action(call, call.input));
  if (!answer) co_return answer.error();
  co_return with_storage(to_answer(std::move(*answer)), storage);
}

Async<MethodAnswer> run_action(Repository repository, MethodCall call, RunAction action, Storage storage) {
  if (text_of(call.input, "mode") == "batch") return run_batch(repository, std::move(call), action, storage);
  return run_single(repository, std::move(call), action, storage);
}

void append_event(std::string& out, Event const& event) {
  JsonObject object{out};
  append_event_fields(object, event);
  object.close();
}

MethodAnswer shown_events(std::vector<Event> const& events) {
  if (events.size() > kMostEvents) {
    return MethodFailure{kTooManyResults, "there are more than " + std::to_string(kMostEvents) +
                                              " events in this time; narrow the range"};
  }
  std::string data;
  JsonObject object{data};
  append_json_array(object.key("items"), events, append_event);
  object.number("count", static_cast<std::int64_t>(events.size())).close();
  return MethodResult{std::move(data)};
}

MethodAnswer shown_event(Event const& event, std::vector<Guest> const& guests, std::int64_t now_ms) {
  std::string item;
  JsonObject object{item};
  append_event_fields(object, event);
  append_series_details(object, event, now_ms);
  if (!guests.empty()) append_guests(object.key("guests"), guests);
  object.close();
  std::string data;
  JsonObject{data}.raw("items", "[" + item + "]").number("count", 1).close();
  return MethodResult{std::move(data)};
}

MethodAnswer not_found() {
  return MethodFailure{kNotFound, "the user has no event with this event_id"};
}

Async<MethodAnswer> run_read_one(Repository repository, MethodCall call) {
  auto const found = co_await repository.find(call.user, text_of(call.input, "event_id"));
  if (!found) co_return found.error();
  if (!*found) co_return not_found();
  std::vector<Guest> guests;
  if ((*found)->invite_id.empty()) {
    auto invited = co_await repository.guests((*found)->id);
    if (!invited) co_return invited.error();
    guests = std::move(*invited);
  }
  co_return shown_event(**found, guests, call.now_ms);
}

Read<Window> read_window(MethodCall const& call) {
  auto const& zone = call.preferences.timezone;
  if (text_of(call.input, "mode") == "day") return read_day(text_of(call.input, "date"), zone);
  return read_range({text_of(call.input, "start_at"), text_of(call.input, "end_at")}, zone);
}

// A plain function, because g++ 12 mishandles braces inside coroutines (CONTRIBUTING.md).
Search search_for_shown(UserId user, Window const& window) {
  return {std::move(user), window, kMostEvents + 1};
}

Async<MethodAnswer> run_read_window(Repository repository, MethodCall call) {
  auto read = read_window(call);
  if (auto* const failure = std::get_if<MethodFailure>(&read)) co_return MethodAnswer{std::move(*failure)};
  auto const found = co_await events_in(repository, search_for_shown(call.user, std::get<Window>(read)));
  if (!found) co_return found.error();
  co_return shown_events(*found);
}

MethodAnswer shown_invites(std::vector<Event> events) {
  bool const more = events.size() > kMostEvents;
  if (more) events.resize(kMostEvents);
  std::string data;
  JsonObject object{data};
  append_json_array(object.key("items"), events, append_event);
  object.number("count", static_cast<std::int64_t>(events.size())).boolean("more", more).close();
  return MethodResult{std::move(data)};
}

Async<MethodAnswer> run_read_invites(Repository repository, MethodCall call) {
  auto found = co_await repository.invites(call.user, "pending", kMostEvents + 1);
  if (!found) co_return found.error();
  co_return shown_invites(std::move(*found));
}

Async<MethodAnswer> run_read(Repository repository, MethodCall call) {
  auto const mode = text_of(call.input, "mode");
  if (mode == "event") return run_read_one(repository, std::move(call));
  if (mode == "invites") return run_read_invites(repository, std::move(call));
  return run_read_window(repository, std::move(call));
}

Method acting(std::string_view name, std::string_view schema, Repository repository, RunAction action,
              Storage storage) {
  return {name, schema, [repository, action, storage](MethodCall call) {
            return run_action(repository, std::move(call), action, storage);
          }};
}

}  // namespace

std::vector<Method> calendar_methods(Repository repository) {
  return {
      acting("calendar.create", create_schema(), repository, &create_event, Storage::needed),
      {"calendar.read", kReadInput,
       [repository](MethodCall call) { return run_read(repository, std::move(call)); }},
      acting("calendar.update", update_schema(), repository, &update_event, Storage::needed),
      acting("calendar.delete", delete_schema(), repository, &delete_event, Storage::not_needed),
      acting("calendar.share", share_schema(), repository, &share_event, Storage::needed),
      acting("calendar.accept_invite", kAcceptInviteInput, repository, &accept_invite, Storage::not_needed),
      acting("calendar.reject_invite", kRejectInviteInput, repository, &reject_invite, Storage::not_needed)};
}

}  // namespace runnel::modules::calendar

#include "runnel/modules/calendar/actions.h"

#include <boost/json/value.hpp>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "runnel/core/json/write.h"
#include "runnel/core/time/instant.h"
#include "runnel/modules/calendar/event_json.h"
#include "runnel/modules/calendar/input.h"

namespace runnel::modules::calendar {

using store::Async;

namespace {

MethodFailure no_such_event() {
  return {kNotFound, "the user has no event with this event_id"};
}

MethodFailure no_such_invite() {
  return {kNotFound, "the user has no invitation with this invite_id"};
}

MethodFailure not_organizer() {
  return {kNotOrganizer,
          "only the user who made this event can change, delete or share it; reject_invite removes it from "
          "this user's calendar"};
}

// Why the user may not change the event. Nothing if the user may.
std::optional<MethodFailure> check_organizer(std::optional<Event> const& event) {
  if (!event) return no_such_event();
  if (!event->invite_id.empty()) return not_organizer();
  return std::nullopt;
}

void append_conflict(std::string& out, Event const& event) {
  JsonObject{out}
      .text("event_id", event.id)
      .text("title", event.title)
      .text("start_at", to_rfc3339(event.span.start_at))
      .text("end_at", to_rfc3339(event.span.end_at))
      .close();
}

std::vector<Event> without(std::vector<Event> found, std::string const& id, std::size_t most) {
  found.erase(std::remove_if(found.begin(), found.end(), [&](Event const& event) { return event.id == id; }),
              found.end());
  if (found.size() > most) found.resize(most);
  return found;
}

// The events at a time of day that overlap this one. The event itself may be among those that are read.
Async<std::vector<Event>> find_conflicts(Repository repository, Action action, Event event) {
  if (event.all_day) co_return std::vector<Event>{};
  Window const window{event.span, Span{}};
  auto found =
      co_await repository.overlapping(action.user, window, action.most_conflicts + 1, Pending::left_out);
  if (!found) co_return found.error();
  co_return without(std::move(*found), event.id, action.most_conflicts);
}

ItemAnswer written_event(Action const& action, Event const& event, char const* outcome,
                         std::vector<Event> const& conflicts, store::SqlStatement change) {
  std::string data;
  JsonObject object{data};
  object.text("event_id", event.id).text("outcome", outcome);
  append_event_name(object, event, action.input);
  if (!conflicts.empty()) append_json_array(object.key("conflicts"), conflicts, append_conflict);
  object.close();
  std::vector<store::SqlStatement> effect;
  effect.push_back(std::move(change));
  return ItemDone{std::move(data), std::move(effect)};
}

// A plain function, because g++ 12 mishandles braces inside coroutines (CONTRIBUTING.md).
ItemAnswer failed(MethodFailure failure) {
  return ItemAnswer{std::move(failure)};
}

struct Sharing {
  std::string data;
  std::vector<store::SqlStatement> effect;
  std::size_t added = 0;
};

void share_with(Sharing& sharing, Action const& action, std::string const& event_id, std::string const& user,
                std::vector<Guest> const& guests) {
  auto const found =
      std::find_if(guests.begin(), guests.end(), [&](Guest const& guest) { return guest.user_id == user; });
  Guest guest{"inv_" + mint_uuid(), user, "pending"};
  bool const is_new = found == guests.end();
  if (!is_new) guest = *found;
  bool const invites = is_new || guest.status == "rejected";
  if (is_new) sharing.effect.push_back(add_invite(action.user, event_id, guest, action.now_ms));
  if (!is_new && invites) sharing.effect.push_back(invite_again(action.user, guest.invite_id, action.now_ms));
  sharing.added += is_new ? 1 : 0;
  JsonObject{sharing.data}
      .text("user_id", user)
      .text("invite_id", guest.invite_id)
      .text("outcome", invites ? "invited" : "already_invited")
      .close();
}

ItemAnswer make_sharing(Action const& action, Event const& event, std::vector<Guest> const& guests) {
  auto const& users = action.input.at("user_ids").as_array();
  Sharing sharing;
  std::string items;
  append_json_array(items, users, [&](std::string& out, boost::json::value const& user) {
    sharing.data.clear();
    share_with(sharing, action, event.id, std::string{user.as_string()}, guests);
    out += sharing.data;
  });
  if (guests.size() + sharing.added > kMostGuests) {
    return failed({kTooManyGuests, "an event has at most " + std::to_string(kMostGuests) + " guests"});
  }
  std::string data;
  JsonObject object{data};
  append_event_name(object, event, action.input);
  object.raw("items", items).number("count", static_cast<std::int64_t>(users.size())).close();
  return ItemDone{std::move(data), std::move(sharing.effect)};
}

bool invites_oneself(Action const& action) {
  auto const& users = action.input.at("user_ids").as_array();
  return std::any_of(users.begin(), users.end(),
                     [&](boost::json::value const& user) { return user.as_string() == action.user.text; });
}

ItemAnswer answered(Action const& action, Event const& event, char const* status) {
  std::string data;
  JsonObject object{data};
  object.text("event_id", event.id).text("outcome", status);
  append_event_name(object, event, action.input);
  object.close();
  std::vector<store::SqlStatement> effect;
  effect.push_back(answer_invite(action.user, event.invite_id, status, action.now_ms));
  return ItemDone{std::move(data), std::move(effect)};
}

Async<ItemAnswer> answer(Repository repository, Action action, char const* status) {
  auto const found = co_await repository.find_invite(action.user, text_of(action.input, "invite_id"));
  if (!found) co_return found.error();
  if (!*found) co_return failed(no_such_invite());
  co_return answered(action, **found, status);
}

}  // namespace

Async<ItemAnswer> create_event(Repository repository, Action action) {
  auto read = read_new_event(action.input, action.timezone);
  if (auto* const failure = std::get_if<MethodFailure>(&read)) co_return failed(std::move(*failure));
  auto event = std::get<Event>(std::move(read));
  event.id = "evt_" + mint_uuid();
  auto const conflicts = co_await find_conflicts(repository, action, event);
  if (!conflicts) co_return conflicts.error();
  co_return written_event(action, event, "created", *conflicts, add_event(action.user, event, action.now_ms));
}

Async<ItemAnswer> update_event(Repository repository, Action action) {
  auto found = co_await repository.find(action.user, text_of(action.input, "event_id"));
  if (!found) co_return found.error();
  if (auto refused = check_organizer(*found)) co_return failed(std::move(*refused));
  auto read = read_changes(std::move(**found), action.input);
  if (auto* const failure = std::get_if<MethodFailure>(&read)) co_return failed(std::move(*failure));
  auto const event = std::get<Event>(std::move(read));
  auto const conflicts = co_await find_conflicts(repository, action, event);
  if (!conflicts) co_return conflicts.error();
  co_return written_event(action, event, "updated", *conflicts,
                          replace_event(action.user, event, action.now_ms));
}

Async<ItemAnswer> delete_event(Repository repository, Action action) {
  auto const found = co_await repository.find(action.user, text_of(action.input, "event_id"));
  if (!found) co_return found.error();
  if (auto refused = check_organizer(*found)) co_return failed(std::move(*refused));
  co_return written_event(action, **found, "deleted", {}, remove_event(action.user, (*found)->id));
}

Async<ItemAnswer> share_event(Repository repository, Action action) {
  if (invites_oneself(action))
    co_return failed(MethodFailure{kInvalidInput, "user_ids must not have the user's own user_id"});
  auto const found = co_await repository.find(action.user, text_of(action.input, "event_id"));
  if (!found) co_return found.error();
  if (auto refused = check_organizer(*found)) co_return failed(std::move(*refused));
  auto const guests = co_await repository.guests((*found)->id);
  if (!guests) co_return guests.error();
  co_return make_sharing(action, **found, *guests);
}

Async<ItemAnswer> accept_invite(Repository repository, Action action) {
  return answer(repository, std::move(action), "accepted");
}

Async<ItemAnswer> reject_invite(Repository repository, Action action) {
  return answer(repository, std::move(action), "rejected");
}

}  // namespace runnel::modules::calendar

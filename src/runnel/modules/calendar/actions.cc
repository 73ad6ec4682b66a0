#include "runnel/modules/calendar/actions.h"

#include <boost/json/value.hpp>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "runnel/core/json/write.h"
#include "runnel/core/time/instant.h"
#include "runnel/modules/calendar/conflicts.h"
#include "runnel/modules/calendar/event_json.h"
#include "runnel/modules/calendar/input.h"
#include "runnel/modules/calendar/recurrence/occurrences.h"
#include "runnel/modules/calendar/recurrence/recurrence.h"
#include "runnel/modules/calendar/recurrence/series_input.h"

namespace runnel::modules::calendar {

using store::Async;

namespace {

MethodFailure no_such_event() {
  return {kNotFound, "the user has no event with this event_id"};
}

MethodFailure no_such_invite() {
  return {kNotFound, "the user has no invitation with this invite_id"};
}

MethodFailure too_many_series() {
  return {kTooManySeries,
          "a user has at most " + std::to_string(kMostSeries) +
              " events that repeat; delete one that is over, or add the dates as single events"};
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

// What the input says about the event, so that a result does not repeat it. An occurrence_start says the
// start.
boost::json::object said_in(boost::json::object input, Event const& event,
                            std::optional<std::int64_t> occurrence) {
  if (occurrence != event.span.start_at) return input;
  input["start_at"] = nullptr;
  input["start_date"] = nullptr;
  return input;
}

// An action that is ready to be written.
struct Change {
  char const* outcome;
  std::vector<store::SqlStatement> effect;
  std::optional<std::int64_t> occurrence{};
  std::string series_id{};
};

ItemAnswer written_event(Action const& action, Event const& event, std::vector<Event> const& conflicts,
                         Change change) {
  std::string data;
  JsonObject object{data};
  object.text("event_id", event.id);
  if (!change.series_id.empty()) object.text("series_id", change.series_id);
  object.text("outcome", change.outcome);
  append_event_name(object, event, said_in(action.input, event, change.occurrence));
  append_rule(object, event, action.input);
  if (!conflicts.empty()) append_json_array(object.key("conflicts"), conflicts, append_conflict);
  object.close();
  return ItemDone{std::move(data), std::move(change.effect)};
}

Change change_of(char const* outcome, store::SqlStatement statement) {
  Change change{outcome, {}};
  change.effect.push_back(std::move(statement));
  return change;
}

// A plain function, because g++ 12 mishandles braces inside coroutines (CONTRIBUTING.md).
ItemAnswer failed(MethodFailure failure) {
  return ItemAnswer{std::move(failure)};
}

struct Sharing {
  std::vector<store::SqlStatement> effect;
  std::vector<std::string> newly_pending;  // Who gets an invitation to answer.
  std::size_t added = 0;
  std::string items;
};

void share_with(Sharing& sharing, Action const& action, std::string const& event_id, std::string const& user,
                std::vector<Guest> const& guests, std::string& out) {
  auto const found =
      std::find_if(guests.begin(), guests.end(), [&](Guest const& guest) { return guest.user_id == user; });
  Guest guest{"inv_" + mint_uuid(), user, "pending"};
  bool const is_new = found == guests.end();
  if (!is_new) guest = *found;
  bool const invites = is_new || guest.status == "rejected";
  if (is_new) sharing.effect.push_back(add_invite(action.user, event_id, guest, action.now_ms));
  if (!is_new && invites) sharing.effect.push_back(invite_again(action.user, guest.invite_id, action.now_ms));
  if (invites) sharing.newly_pending.push_back(user);
  sharing.added += is_new ? 1 : 0;
  JsonObject{out}
      .text("user_id", user)
      .text("invite_id", guest.invite_id)
      .text("outcome", invites ? "invited" : "already_invited")
      .close();
}

Sharing make_sharing(Action const& action, Event const& event, std::vector<Guest> const& guests) {
  Sharing sharing;
  std::string items;
  append_json_array(items, action.input.at("user_ids").as_array(),
                    [&](std::string& out, boost::json::value const& user) {
                      share_with(sharing, action, event.id, std::string{user.as_string()}, guests, out);
                    });
  sharing.items = std::move(items);
  return sharing;
}

ItemAnswer shared(Action const& action, Event const& event, Sharing sharing) {
  auto const count = action.input.at("user_ids").as_array().size();
  std::string data;
  JsonObject object{data};
  append_event_name(object, event, action.input);
  append_rule(object, event, action.input);
  object.raw("items", sharing.items).number("count", static_cast<std::int64_t>(count)).close();
  return ItemDone{std::move(data), std::move(sharing.effect)};
}

MethodFailure too_many_guests() {
  return {kTooManyGuests, "an event has at most " + std::to_string(kMostGuests) + " guests"};
}

// Tells nothing else about these users.
MethodFailure no_more_invites(std::vector<std::string> const& users) {
  std::string list;
  for (auto const& user : users)
    list += (list.empty() ? "" : ", ") + user;
  return {kNoMoreInvites,
          "nobody was invited, because at the moment no more invitations can be sent to: " + list};
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
  append_rule(object, event, action.input);
  object.close();
  std::vector<store::SqlStatement> effect;
  effect.push_back(answer_invite(action.user, event.invite_id, status, action.now_ms));
  return ItemDone{std::move(data), std::move(effect)};
}

// Why the user can have no more series, if the event is one.
Async<std::optional<MethodFailure>> check_series(Repository repository, Action action, Event event) {
  if (event.rrule.empty()) co_return std::nullopt;
  auto const count = co_await repository.count_series(action.user);
  if (!count) co_return count.error();
  auto const new_series = action.batch ? action.batch->new_series : 0;
  if (*count + new_series < kMostSeries) co_return std::nullopt;
  co_return too_many_series();
}

// For the items of a batch that follow.
void note_series(Action const& action, bool was_series, bool is_series) {
  if (action.batch) action.batch->new_series += (is_series ? 1 : 0) - (was_series ? 1 : 0);
}

// A plain function, because g++ 12 mishandles braces inside coroutines (CONTRIBUTING.md).
Comparison compare(Action const& action, Event const& event, std::string const& except_id) {
  if (!action.batch) return {action.user, event, except_id, kMostConflicts};
  return {action.user, event, except_id, kMostConflictsInBatch, action.batch->series};
}

// The statement that takes an occurrence out of a series: the series changes, or goes with its last one.
Read<store::SqlStatement> take_out(Action const& action, Event const& series, std::int64_t start) {
  auto rest = without_occurrence(series, start);
  if (auto* const failure = std::get_if<MethodFailure>(&rest)) return std::move(*failure);
  auto const& left = std::get<std::optional<Event>>(rest);
  if (!left) note_series(action, true, false);
  return left ? replace_event(action.user, *left, action.now_ms) : remove_unchanged(action.user, series);
}

ItemAnswer deleted_occurrence(Action const& action, Event const& series) {
  auto read = read_occurrence(series, action.input);
  if (auto* const failure = std::get_if<MethodFailure>(&read)) return failed(std::move(*failure));
  auto const start = std::get<std::int64_t>(read);
  auto taken = take_out(action, series, start);
  if (auto* const failure = std::get_if<MethodFailure>(&taken)) return failed(std::move(*failure));
  auto change = change_of("deleted", std::get<store::SqlStatement>(std::move(taken)));
  change.occurrence = start;
  return written_event(action, occurrence_of(series, start), {}, std::move(change));
}

// The occurrence as an event of its own, with the changes of the input and without an id.
Read<Event> read_single(Event const& series, std::int64_t start, boost::json::object const& input) {
  if (input.contains("rrule") || input.contains("exdates"))
    return MethodFailure{kInvalidInput, "rrule and exdates cannot be used with occurrence_start"};
  auto single = occurrence_of(series, start);
  single.is_occurrence = false;
  single.rrule.clear();
  single.exdates.clear();
  single.series_end_at = 0;
  return read_single_changes(single, input);
}

// What changes an occurrence: the event that it becomes, and the effect. The series is last, because its
// guests are those of the new event, and it may go.
struct Separation {
  Event event;
  Change change;
};

Read<Separation> separate(Action const& action, Event const& series) {
  auto read = read_occurrence(series, action.input);
  if (auto* const failure = std::get_if<MethodFailure>(&read)) return std::move(*failure);
  auto const start = std::get<std::int64_t>(read);
  auto single = read_single(series, start, action.input);
  if (auto* const failure = std::get_if<MethodFailure>(&single)) return std::move(*failure);
  auto event = std::get<Event>(std::move(single));
  event.id = "evt_" + mint_uuid();
  event.revision = 1;
  auto taken = take_out(action, series, start);
  if (auto* const failure = std::get_if<MethodFailure>(&taken)) return std::move(*failure);
  auto change = change_of("updated", add_event(action.user, event, action.now_ms));
  change.effect.push_back(copy_guests(action.user, series.id, event.id, action.now_ms));
  change.effect.push_back(std::get<store::SqlStatement>(std::move(taken)));
  change.occurrence = start;
  change.series_id = series.id;
  return Separation{std::move(event), std::move(change)};
}

Async<ItemAnswer> update_occurrence(Repository repository, Action action, Event series) {
  auto separated = separate(action, series);
  if (auto* const failure = std::get_if<MethodFailure>(&separated)) co_return failed(std::move(*failure));
  auto& [event, change] = std::get<Separation>(separated);
  auto const conflicts = co_await find_conflicts(repository, compare(action, event, series.id));
  if (!conflicts) co_return conflicts.error();
  co_return written_event(action, event, *conflicts, std::move(change));
}

Async<ItemAnswer> answer(Repository repository, Action action, char const* status) {
  auto const found = co_await repository.find_invite(action.user, text_of(action.input, "invite_id"));
  if (!found) co_return found.error();
  if (!*found) co_return failed(no_such_invite());
  co_return answered(action, **found, status);
}

}  // namespace

Async<ItemAnswer> create_event(Repository repository, Action action) {
  auto read = co_await read_new_event(action.input, action.timezone);
  if (auto* const failure = std::get_if<MethodFailure>(&read)) co_return failed(std::move(*failure));
  auto event = std::get<Event>(std::move(read));
  event.id = "evt_" + mint_uuid();
  auto const refused = co_await check_series(repository, action, event);
  if (!refused) co_return refused.error();
  if (*refused) co_return failed(**refused);
  auto const conflicts = co_await find_conflicts(repository, compare(action, event, event.id));
  if (!conflicts) co_return conflicts.error();
  note_series(action, false, !event.rrule.empty());
  co_return written_event(action, event, *conflicts,
                          change_of("created", add_event(action.user, event, action.now_ms)));
}

Async<ItemAnswer> update_event(Repository repository, Action action) {
  auto found = co_await repository.find(action.user, text_of(action.input, "event_id"));
  if (!found) co_return found.error();
  if (auto refused = check_organizer(*found)) co_return failed(std::move(*refused));
  auto const before = std::move(**found);
  if (action.input.contains("occurrence_start")) {
    auto changed = co_await update_occurrence(repository, std::move(action), before);
    co_return changed;
  }
  auto read = co_await read_changes(before, action.input);
  if (auto* const failure = std::get_if<MethodFailure>(&read)) co_return failed(std::move(*failure));
  auto const event = std::get<Event>(std::move(read));
  if (before.rrule.empty()) {
    auto const refused = co_await check_series(repository, action, event);
    if (!refused) co_return refused.error();
    if (*refused) co_return failed(**refused);
  }
  auto const conflicts = co_await find_conflicts(repository, compare(action, event, event.id));
  if (!conflicts) co_return conflicts.error();
  note_series(action, !before.rrule.empty(), !event.rrule.empty());
  co_return written_event(action, event, *conflicts,
                          change_of("updated", replace_event(action.user, event, action.now_ms)));
}

Async<ItemAnswer> delete_event(Repository repository, Action action) {
  auto const found = co_await repository.find(action.user, text_of(action.input, "event_id"));
  if (!found) co_return found.error();
  if (auto refused = check_organizer(*found)) co_return failed(std::move(*refused));
  if (action.input.contains("occurrence_start")) co_return deleted_occurrence(action, **found);
  note_series(action, !(*found)->rrule.empty(), false);
  co_return written_event(action, **found, {}, change_of("deleted", remove_event(action.user, (*found)->id)));
}

Async<ItemAnswer> share_event(Repository repository, Action action) {
  if (invites_oneself(action))
    co_return failed(MethodFailure{kInvalidInput, "user_ids must not have the user's own user_id"});
  auto const found = co_await repository.find(action.user, text_of(action.input, "event_id"));
  if (!found) co_return found.error();
  if (auto refused = check_organizer(*found)) co_return failed(std::move(*refused));
  auto const guests = co_await repository.guests((*found)->id);
  if (!guests) co_return guests.error();
  auto sharing = make_sharing(action, **found, *guests);
  if (guests->size() + sharing.added > kMostGuests) co_return failed(too_many_guests());
  if (!sharing.newly_pending.empty()) {
    auto const full = co_await repository.full_guests(sharing.newly_pending);
    if (!full) co_return full.error();
    if (!full->empty()) co_return failed(no_more_invites(*full));
  }
  co_return shared(action, **found, std::move(sharing));
}

Async<ItemAnswer> accept_invite(Repository repository, Action action) {
  return answer(repository, std::move(action), "accepted");
}

Async<ItemAnswer> reject_invite(Repository repository, Action action) {
  return answer(repository, std::move(action), "rejected");
}

}  // namespace runnel::modules::calendar

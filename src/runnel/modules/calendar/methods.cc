#include "runnel/modules/calendar/methods.h"

#include <string>
#include <utility>
#include <variant>

#include "kCreateInput.inc"
#include "kReadInput.inc"
#include "runnel/core/json/write.h"
#include "runnel/core/time/instant.h"
#include "runnel/modules/calendar/input.h"

namespace runnel::modules::calendar {

using store::Async;

namespace {

MethodAnswer create_event(MethodCall const& call) {
  auto read = read_new_event(call);
  if (auto* const failure = std::get_if<MethodFailure>(&read)) return std::move(*failure);
  auto& event = std::get<Event>(read);
  event.id = "evt_" + mint_uuid();
  std::string data;
  JsonObject{data}.text("event_id", event.id).text("outcome", "created").close();
  return MethodResult{std::move(data), {add_event(call.user, event, call.now_ms)}};
}

void append_event(std::string& out, Event const& event) {
  JsonObject object{out};
  object.text("event_id", event.id)
      .text("title", event.title)
      .text("start_at", to_rfc3339(event.span.start_at))
      .text("end_at", to_rfc3339(event.span.end_at))
      .text("timezone", event.timezone);
  if (!event.location.empty()) object.text("location", event.location);
  if (!event.description.empty()) object.text("description", event.description);
  object.close();
}

MethodAnswer shown_events(std::vector<Event> const& events) {
  if (events.size() > kMostEvents) {
    return MethodFailure{kTooManyResults, "there are more than " + std::to_string(kMostEvents) +
                                              " events in this time; narrow the range"};
  }
  std::string data;
  JsonObject object{data};
  append_json_array(object.key("items"), events, &append_event);
  object.number("count", static_cast<std::int64_t>(events.size())).close();
  return MethodResult{std::move(data)};
}

MethodAnswer shown_event(std::optional<Event> const& event) {
  if (!event) return MethodFailure{kNotFound, "the user has no event with this event_id"};
  return shown_events({*event});
}

Async<MethodAnswer> run_create(MethodCall call) {
  co_return create_event(call);
}

Async<MethodAnswer> run_read_one(Repository repository, MethodCall call) {
  auto const found = co_await repository.find(call.user, text_of(call.input, "event_id"));
  if (!found) co_return found.error();
  co_return shown_event(*found);
}

Async<MethodAnswer> run_read_span(Repository repository, MethodCall call) {
  auto read = read_span(call);
  if (auto* const failure = std::get_if<MethodFailure>(&read)) co_return MethodAnswer{std::move(*failure)};
  auto const found = co_await repository.overlapping(call.user, std::get<Span>(read), kMostEvents + 1);
  if (!found) co_return found.error();
  co_return shown_events(*found);
}

Async<MethodAnswer> run_read(Repository repository, MethodCall call) {
  if (text_of(call.input, "mode") == "event") return run_read_one(repository, std::move(call));
  return run_read_span(repository, std::move(call));
}

}  // namespace

std::vector<Method> calendar_methods(Repository repository) {
  return {{"calendar.create", kCreateInput, &run_create},
          {"calendar.read", kReadInput,
           [repository](MethodCall call) { return run_read(repository, std::move(call)); }}};
}

}  // namespace runnel::modules::calendar

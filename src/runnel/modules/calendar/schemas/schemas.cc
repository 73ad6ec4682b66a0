#include "runnel/modules/calendar/schemas/schemas.h"

#include <boost/json.hpp>

#include "kDeletedEvent.inc"
#include "kEventChanges.inc"
#include "kInvitedUsers.inc"
#include "kNewEvent.inc"
#include "kOpenApi.inc"
#include "runnel/modules/batch.h"
#include "runnel/modules/openapi_schema.h"

namespace runnel::modules::calendar {

namespace json = boost::json;

namespace {

// The form with the event that it is about.
json::object about_event(std::string_view form) {
  auto out = json::parse(form).as_object();
  auto const event = json::parse(kDeletedEvent).at("properties").at("event_id");
  json::object properties{{"event_id", event}};
  for (auto const& [name, property] : out.at("properties").as_object())
    properties[name] = property;
  json::array required{"event_id"};
  if (auto const* const others = out.if_contains("required"))
    required.insert(required.end(), others->as_array().begin(), others->as_array().end());
  if (auto* const least = out.if_contains("minProperties")) *least = least->as_int64() + 1;
  out["properties"] = std::move(properties);
  out["required"] = std::move(required);
  return out;
}

json::object described(json::object schema, char const* description) {
  schema["description"] = description;
  return schema;
}

std::string make_openapi() {
  auto document = json::parse(kOpenApi).as_object();
  auto& schemas = document.at("components").at("schemas").as_object();
  schemas["NewEvent"] = to_openapi(json::parse(kNewEvent));
  schemas["EventChanges"] = to_openapi(json::parse(kEventChanges));
  schemas["InvitedUsers"] = to_openapi(json::parse(kInvitedUsers));
  return json::serialize(document);
}

}  // namespace

std::string_view create_schema() {
  static std::string const schema = schema_with_batch(
      "Adds one event to the user's calendar, or several. If it overlaps other events, the result has them "
      "as conflicts.",
      kNewEvent);
  return schema;
}

std::string_view update_schema() {
  static std::string const schema = schema_with_batch(
      "Changes one event of the user's calendar, or several. To move an event, a new start is enough.",
      json::serialize(about_event(kEventChanges)));
  return schema;
}

std::string_view delete_schema() {
  static std::string const schema = schema_with_batch(
      "Deletes one event of the user's calendar, or several, for their guests, too.", kDeletedEvent);
  return schema;
}

std::string_view share_schema() {
  static std::string const schema = json::serialize(described(
      about_event(kInvitedUsers), "Invites other users to an event of the user, who then accept or reject."));
  return schema;
}

std::string_view openapi() {
  static std::string const document = make_openapi();
  return document;
}

}  // namespace runnel::modules::calendar

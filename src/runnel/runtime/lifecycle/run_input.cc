#include "runnel/runtime/lifecycle/run_input.h"

#include <boost/json.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include "runnel/core/json/write.h"
#include "runnel/core/text/sha256.h"
#include "runnel/runtime/lifecycle/message_text.h"

namespace runnel::runtime {

namespace json = boost::json;

namespace {

// An optional member, which must be a string if it is present. Null counts as absent.
std::variant<std::optional<std::string>, Refusal> text_member(json::object const& object,
                                                              std::string_view key) {
  auto const* value = object.if_contains(key);
  if (value == nullptr || value->is_null()) return std::nullopt;
  if (!value->is_string()) return invalid_request("'" + std::string{key} + "' must be a string");
  return std::string{value->get_string()};
}

std::optional<Refusal> read_newest_message(json::object const& body, RunInput& input) {
  auto const* messages = body.if_contains("messages");
  if (messages == nullptr || !messages->is_array())
    return invalid_request("'messages' must be a list with a user message");
  json::object const* newest = nullptr;
  for (auto const& message : messages->get_array()) {
    auto const* object = message.if_object();
    auto const* role = object != nullptr ? object->if_contains("role") : nullptr;
    if (role == nullptr || !role->is_string())
      return invalid_request("each message must be an object with a 'role'");
    if (role->get_string() == "user") newest = object;
  }
  if (newest == nullptr && input.client.is_reply) return std::nullopt;
  if (newest == nullptr) return invalid_request("'messages' has no message with role 'user'");

  auto text = content_text(newest->if_contains("content"), "a user message");
  auto* const refusal = std::get_if<Refusal>(&text);
  if (refusal != nullptr && input.client.is_reply) return std::nullopt;
  if (refusal != nullptr) return std::move(*refusal);
  input.text = std::move(std::get<std::string>(text));
  if (input.text.empty() && !input.client.is_reply)
    return invalid_request("the newest user message is empty");

  auto const* id = newest->if_contains("id");
  if (id != nullptr && id->is_string() && is_usable_id(std::string{id->get_string()})) {
    input.message_id = std::string{id->get_string()};
  }
  return std::nullopt;
}

std::optional<Refusal> read_what_is_asked(json::object const& body, RunInput& input) {
  auto reading = read_resume(body);
  if (auto* problem = std::get_if<BadResume>(&reading)) return invalid_request(std::move(problem->what));
  input.resume = std::move(std::get<0>(reading));
  if (!input.resume) {
    if (auto refusal = read_client_tools(body, input.client)) return refusal;
    return read_newest_message(body, input);
  }
  if (!input.thread) return invalid_request("'resume' needs the 'threadId' of the thread whose run waits");
  return std::nullopt;
}

std::optional<Refusal> read_on_busy(json::object const& props, RunInput& input) {
  auto policy = text_member(props, "onBusy");
  if (auto* refusal = std::get_if<Refusal>(&policy)) return std::move(*refusal);
  auto const& name = std::get<0>(policy);
  if (!name) return std::nullopt;
  if (*name == "reject") {
    input.on_busy = store::OnBusy::reject;
  } else if (*name == "enqueue") {
    input.on_busy = store::OnBusy::enqueue;
  } else if (*name == "interrupt") {
    input.on_busy = store::OnBusy::interrupt;
  } else if (*name == "rollback") {
    input.on_busy = store::OnBusy::rollback;
  } else {
    return invalid_request("'forwardedProps.onBusy' must be one of reject, enqueue, interrupt, rollback");
  }
  return std::nullopt;
}

std::optional<Refusal> read_props(json::object const& body, RunInput& input) {
  auto const* value = body.if_contains("forwardedProps");
  if (value == nullptr || !value->is_object()) return std::nullopt;
  auto const& props = value->get_object();
  for (auto const& [key, target] : {std::pair{"flow", &input.flow}, std::pair{"model", &input.model}}) {
    auto text = text_member(props, key);
    if (auto* refusal = std::get_if<Refusal>(&text)) return std::move(*refusal);
    if (auto& name = std::get<0>(text)) *target = std::move(*name);
  }
  return read_on_busy(props, input);
}

std::optional<Refusal> read_ids(json::object const& body, RunInput& input) {
  auto thread = text_member(body, "threadId");
  auto run = text_member(body, "runId");
  for (auto* id : {&thread, &run}) {
    if (auto* refusal = std::get_if<Refusal>(id)) return std::move(*refusal);
    auto const& text = std::get<0>(*id);
    if (text && !is_usable_id(*text)) {
      return invalid_request(
          "'threadId' and 'runId' must be 1 to 128 visible ASCII characters without spaces");
    }
  }
  if (auto& text = std::get<0>(thread)) input.thread = ThreadId{std::move(*text)};
  if (auto& text = std::get<0>(run)) input.run = RunId{std::move(*text)};
  if (input.run && !base_of_alias(*input.run).empty()) {
    return invalid_request(
        "'runId' must not end in '~' and digits: such ids are for runs that go on after a pause");
  }

  auto version = text_member(body, "protocolVersion");
  if (auto* refusal = std::get_if<Refusal>(&version)) return std::move(*refusal);
  if (std::get<0>(version) == "1.0") input.agui_version = "1.0";
  return std::nullopt;
}

std::int64_t count_unknown_keys(json::object const& body) {
  static constexpr std::array<std::string_view, 10> kKnown = {
      "threadId", "runId",   "parentRunId",    "messages",        "state",
      "tools",    "context", "forwardedProps", "protocolVersion", "resume"};
  return std::count_if(body.begin(), body.end(), [](auto const& member) {
    return std::find(kKnown.begin(), kKnown.end(), std::string_view{member.key()}) == kKnown.end();
  });
}

}  // namespace

std::variant<RunInput, Refusal> parse_run_input(json::value const& body) {
  if (!body.is_object()) return invalid_request("the body must be a JSON object");
  RunInput input;
  for (auto* read : {&read_ids, &read_what_is_asked, &read_props}) {
    if (auto refusal = (*read)(body.get_object(), input)) return std::move(*refusal);
  }
  input.ignored_keys = count_unknown_keys(body.get_object());
  return input;
}

std::string to_stored(RunInput const& input) {
  std::string out;
  JsonObject object{out};
  object.text("messageId", input.message_id).text("text", input.text).text("flow", input.flow);
  object.text("model", input.model);
  add_client_tools(object, input.client);
  object.close();
  return out;
}

Result<RunInput> from_stored(std::string_view stored) {
  boost::system::error_code error;
  auto const value = json::parse({stored.data(), stored.size()}, error);
  if (error || !value.is_object()) return Error{Errc::internal, "a run's stored input is not a JSON object"};
  RunInput input;
  for (auto const& [key, target] : {std::pair{"messageId", &input.message_id}, std::pair{"text", &input.text},
                                    std::pair{"flow", &input.flow}, std::pair{"model", &input.model}}) {
    auto const* member = value.get_object().if_contains(key);
    if (member == nullptr || !member->is_string()) {
      return Error{Errc::internal, std::string{"a run's stored input has no "} + key};
    }
    *target = std::string{member->get_string()};
  }
  auto client = client_tools_in(value.get_object());
  if (!client) return client.error();
  input.client = std::move(*client);
  return input;
}

std::string hash_of(RunInput const& input) {
  std::string canonical;
  JsonObject object{canonical};
  object.text("thread", input.thread ? input.thread->text : "")
      .text("text", input.text)
      .text("flow", input.flow);
  object.text("model", input.model);
  add_compared(object, input.client);
  object.close();
  return sha256_hex(canonical);
}

}  // namespace runnel::runtime

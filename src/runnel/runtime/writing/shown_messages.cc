#include "runnel/runtime/writing/shown_messages.h"

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <string_view>

#include "runnel/core/json/members.h"
#include "runnel/core/json/parse.h"
#include "runnel/core/json/write.h"

namespace runnel::runtime {

namespace {

void append_call(JsonObject& message, boost::json::object const& kind, std::string const& arguments) {
  auto& calls = message.key("toolCalls");
  calls += '[';
  JsonObject call{calls};
  call.text("id", text_at(kind, "tool_call_id")).text("type", "function");
  JsonObject{call.key("function")}
      .text("name", text_at(kind, "tool_name"))
      .text("arguments", arguments)
      .close();
  call.close();
  calls += ']';
}

}  // namespace

void append_shown_message(std::string& out, MessageId const& id, store::Role role, std::string const& content,
                          std::string const& metadata) {
  auto const document = parse_stored_json(metadata).value_or(nullptr);
  auto const& kind = as_object(document);
  JsonObject message{out};
  message.text("id", id.text).text("role", to_string(role));
  if (text_at(kind, "type") == "tool_call") {
    append_call(message, kind, content);
  } else {
    message.text("content", content);
    if (role == store::Role::tool) message.text("toolCallId", text_at(kind, "tool_call_id"));
  }
  message.close();
}

}  // namespace runnel::runtime

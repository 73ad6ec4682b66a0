#include "runnel/modules/memory/methods.h"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "runnel/core/json/write.h"
#include "runnel/modules/memory/content.h"
#include "runnel/modules/memory/schemas.h"

namespace runnel::modules::memory {

using store::Async;
namespace json = boost::json;

namespace {

std::string text_in_input(MethodCall const& call, std::string_view field) {
  auto const* const value = call.input.if_contains(field);
  return value == nullptr ? std::string{} : std::string{value->as_string()};
}

// Of a call that must name a kind.
Kind kind_in_input(MethodCall const& call) {
  return parse_kind(text_in_input(call, "kind")).value();
}

MethodAnswer shown_memories(std::vector<Memory> const& memories, std::string const& only) {
  std::vector<Memory> shown;
  for (auto const& memory : memories) {
    if (only.empty() || only == to_string(memory.kind)) shown.push_back(memory);
  }
  std::string data;
  JsonObject object{data};
  append_json_array(object.key("items"), shown, [](std::string& out, Memory const& memory) {
    JsonObject{out}.text("kind", to_string(memory.kind)).raw("content", memory.content).close();
  });
  object.number("count", static_cast<std::int64_t>(shown.size())).close();
  return MethodResult{std::move(data)};
}

std::string told(char const* outcome, json::object const& content) {
  std::string data;
  JsonObject object{data};
  object.text("outcome", outcome);
  append_json_array(object.key("fields"), content,
                    [](std::string& out, auto const& field) { append_json_string(out, field.key()); });
  object.close();
  return data;
}

MethodFailure refused(std::vector<base::Violation> const& violations) {
  std::string what;
  for (auto const& violation : violations) {
    if (!what.empty()) what += "; ";
    what += "/content" + violation.path + ": " + violation.what;
  }
  return MethodFailure{kInvalidInput, std::move(what)};
}

MethodAnswer updated(MethodCall const& call, std::optional<Memory> const& before) {
  auto const& sent = call.input.at("content").as_object();
  auto const violations = check_content(sent);
  if (!violations.empty()) return refused(violations);
  auto const stored = before ? json::parse(before->content).as_object() : json::object{};
  auto const mode = text_in_input(call, "mode") == "replace" ? Mode::replace : Mode::merge;
  auto const made = update(stored, sent, mode);
  if (auto const* const limit = std::get_if<base::Violation>(&made)) return refused({*limit});
  auto const& content = std::get<json::object>(made);
  if (content == stored) return MethodResult{told("unchanged", content)};
  auto const kind = kind_in_input(call);
  return MethodResult{told("updated", content),
                      {put_memory(call.user, kind, before, json::serialize(content), call.now_ms)}};
}

Async<MethodAnswer> run_read(Repository repository, MethodCall call) {
  auto const found = co_await repository.all(call.user);
  if (!found) co_return found.error();
  co_return shown_memories(*found, text_in_input(call, "kind"));
}

Async<MethodAnswer> run_update(Repository repository, MethodCall call) {
  auto const before = co_await repository.find(call.user, kind_in_input(call));
  if (!before) co_return before.error();
  co_return updated(call, *before);
}

}  // namespace

std::vector<Method> memory_methods(Repository repository) {
  return {{"memory.read", read_input(),
           [repository](MethodCall call) { return run_read(repository, std::move(call)); }},
          {"memory.update", update_input(),
           [repository](MethodCall call) { return run_update(repository, std::move(call)); }}};
}

}  // namespace runnel::modules::memory

#include "runnel/api/openapi_contract.h"

#include <boost/json/value.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <stdexcept>

#include "runnel/core/json/parse.h"

namespace runnel::api {
namespace {

namespace json = boost::json;

constexpr std::array kMethods{std::pair{"get", Method::get}, std::pair{"post", Method::post},
                              std::pair{"put", Method::put}, std::pair{"patch", Method::patch},
                              std::pair{"delete", Method::del}};

[[noreturn]] void refuse(std::string const& where, std::string const& why) {
  throw std::logic_error("OpenAPI document, " + where + ": " + why);
}

// The {names} of a path.
std::set<std::string> names_in(std::string_view path) {
  std::set<std::string> out;
  for (auto open = path.find('{'); open != std::string_view::npos; open = path.find('{', open + 1))
    out.emplace(path.substr(open + 1, path.find('}', open) - open - 1));
  return out;
}

// Reads one document. `where_` is the operation being read, for error messages.
class Reader {
 public:
  explicit Reader(json::object const& document) : document_{document} {}

  std::vector<Operation> operations();

 private:
  Operation operation(std::string_view path, Method method, json::object const& described);
  void read_parameters(json::object const& holder, std::set<std::string>& in_path, Operation& out) const;
  void read_security(json::object const& described, Operation& out) const;
  void read_statuses(json::object const& described, Operation& out) const;
  void read_body(json::object const& described, Operation& out) const;

  json::object const& object(json::object const& holder, std::string_view key) const;
  json::object const& component(std::string_view kind, std::string_view name) const;
  json::object const& resolved(json::object const& holder, std::string_view kind) const;

  json::object const& document_;
  std::set<std::string> ids_;
  std::string where_;
};

json::object const& Reader::object(json::object const& holder, std::string_view key) const {
  auto const* value = holder.if_contains(key);
  if (value == nullptr || !value->is_object())
    refuse(where_, "an object '" + std::string{key} + "' is needed");
  return value->get_object();
}

json::object const& Reader::component(std::string_view kind, std::string_view name) const {
  return object(object(object(document_, "components"), kind), name);
}

json::object const& Reader::resolved(json::object const& holder, std::string_view kind) const {
  auto const* reference = holder.if_contains("$ref");
  if (reference == nullptr) return holder;
  std::string const prefix = "#/components/" + std::string{kind} + "/";
  std::string const target{reference->as_string()};
  if (!target.starts_with(prefix)) refuse(where_, "a reference to " + std::string{kind} + " is needed");
  return component(kind, target.substr(prefix.size()));
}

std::vector<Operation> Reader::operations() {
  std::vector<Operation> out;
  for (auto const& [path, item] : object(document_, "paths")) {
    for (auto const& [name, method] : kMethods) {
      auto const* described = item.as_object().if_contains(name);
      if (described == nullptr) continue;
      where_ = std::string{name} + " " + std::string{path};
      out.push_back(operation({path.data(), path.size()}, method, described->as_object()));
    }
  }
  return out;
}

Operation Reader::operation(std::string_view path, Method method, json::object const& described) {
  Operation out;
  out.method = method;
  out.path = path;
  auto const* id = described.if_contains("operationId");
  if (id == nullptr || !ids_.insert(std::string{id->as_string()}).second)
    refuse(where_, "a unique operationId is needed");

  std::set<std::string> in_path;
  read_parameters(object(document_, "paths").at(path).get_object(), in_path, out);
  read_parameters(described, in_path, out);
  if (in_path != names_in(path)) refuse(where_, "the path and its parameters differ");
  read_security(described, out);
  read_statuses(described, out);
  read_body(described, out);
  return out;
}

void Reader::read_parameters(json::object const& holder, std::set<std::string>& in_path,
                             Operation& out) const {
  auto const* list = holder.if_contains("parameters");
  if (list == nullptr) return;
  for (auto const& item : list->as_array()) {
    auto const& parameter = resolved(item.as_object(), "parameters");
    std::string name{parameter.at("name").as_string()};
    auto const& place = parameter.at("in").as_string();
    if (place == "path") {
      in_path.insert(std::move(name));
    } else if (place == "query") {
      out.query.push_back(std::move(name));
    }
  }
}

// `security` lists alternatives. If the list is empty or has an empty alternative, no credentials are needed.
// A key that is sent in the query counts as a query parameter.
void Reader::read_security(json::object const& described, Operation& out) const {
  auto const* own = described.if_contains("security");
  auto const* list = own != nullptr ? own : document_.if_contains("security");
  if (list == nullptr) refuse(where_, "'security' is needed");
  out.for_anyone = list->as_array().empty();
  for (auto const& alternative : list->as_array()) {
    (alternative.as_object().empty() ? out.for_anyone : out.for_users) = true;
    for (auto const& needed : alternative.as_object()) {
      auto const& scheme = component("securitySchemes", {needed.key().data(), needed.key().size()});
      if (auto const* place = scheme.if_contains("in"); place != nullptr && place->as_string() == "query")
        out.query.emplace_back(scheme.at("name").as_string());
    }
  }
}

void Reader::read_statuses(json::object const& described, Operation& out) const {
  for (auto const& [text, response] : object(described, "responses")) {
    int status = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), status);
    bool const is_final = status >= 200 && status <= 599;
    if (error != std::errc{} || end != text.data() + text.size() || (status != 101 && !is_final))
      refuse(where_, "'" + std::string{text} + "' is neither 101 nor a status from 200 to 599");
    if (!resolved(response.as_object(), "responses").contains("description"))
      refuse(where_, "a response needs a description");
    out.statuses.push_back(status);
  }
  if (out.statuses.empty()) refuse(where_, "at least one response is needed");
}

void Reader::read_body(json::object const& described, Operation& out) const {
  if (!described.contains("requestBody")) return;
  auto const& body = resolved(object(described, "requestBody"), "requestBodies");
  auto const* required = body.if_contains("required");
  if (required == nullptr || !required->as_bool()) refuse(where_, "the body must have \"required\": true");
  auto const& content = object(body, "content");
  if (content.size() == 1 && content.begin()->key() != "application/json") {
    out.other_body = content.begin()->key();
    return;
  }
  auto const& schema = object(object(content, "application/json"), "schema");
  auto loaded = base::JsonSchema::load(schema, object(object(document_, "components"), "schemas"));
  if (!loaded) refuse(where_, loaded.error().detail);
  out.body = std::move(*loaded);
}

}  // namespace

bool Operation::has_query(std::string_view name) const {
  return std::find(query.begin(), query.end(), name) != query.end();
}

bool Operation::has_status(int status) const {
  return std::find(statuses.begin(), statuses.end(), status) != statuses.end();
}

OpenApiContract::OpenApiContract(std::string_view document) {
  auto const parsed = parse_json(document);
  if (auto const* problem = std::get_if<JsonProblem>(&parsed)) refuse("JSON", to_string(*problem));
  try {
    auto const& root = std::get<json::value>(parsed).as_object();
    if (!root.at("openapi").as_string().starts_with("3.0.")) refuse("openapi", "the version must be 3.0.x");
    operations_ = Reader{root}.operations();
  } catch (boost::system::system_error const& error) {
    refuse("JSON", error.what());
  } catch (std::out_of_range const& error) {
    refuse("JSON", error.what());
  }
}

Operation const* OpenApiContract::find(Method method, std::string_view path) const {
  auto const found = std::find_if(operations_.begin(), operations_.end(), [&](Operation const& operation) {
    return operation.method == method && operation.path == path;
  });
  return found != operations_.end() ? &*found : nullptr;
}

}  // namespace runnel::api

#include "runnel/modules/tool_route.h"

#include <boost/json/value.hpp>

#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "runnel/api/problem.h"
#include "runnel/base/log/log.h"
#include "runnel/core/json/parse.h"
#include "runnel/core/json/write.h"
#include "runnel/core/text/sha256.h"
#include "runnel/modules/input_schema.h"
#include "runnel/modules/tool_calls.h"

namespace runnel::modules {

namespace asio = boost::asio;
namespace json = boost::json;

namespace {

constexpr std::string_view kBearer = "Bearer ";

// How a batch is answered of which only a part took effect.
constexpr int kPartly = 207;

// What the program prints beside the data has at most this many bytes.
constexpr std::size_t kPrintedBesideData = 256;

// A method, ready to be called.
struct Callable {
  Method method;
  InputSchema schema;
};

Callable compile(Method method) {
  auto schema = InputSchema::load(method.input_schema);
  if (schema) return {std::move(method), std::move(*schema)};
  throw std::logic_error("the input schema of " + std::string{method.name} + ": " + schema.error().detail);
}

int status_of(bool partial) {
  return partial ? kPartly : 200;
}

// Why a call is refused, in words for the model.
struct Refusal {
  Refusal(int code_of_http, MethodFailure why) : status{code_of_http}, failure{std::move(why)} {}

  int status;
  MethodFailure failure;
};

// {"error":{"code","message"}}. For a bad input also the module, the method and the schema (TOOL-4), and for
// a batch the outcomes of its items.
api::Response refuse(Refusal const& refusal, Callable const* callable) {
  std::string body;
  JsonObject outer{body};
  JsonObject error{outer.key("error")};
  error.text("code", refusal.failure.code).text("message", refusal.failure.message);
  if (callable != nullptr && refusal.failure.code == kInvalidInput) {
    auto const name = callable->method.name;
    auto const dot = name.find('.');
    error.text("module", name.substr(0, dot)).text("method", name.substr(dot + 1));
    error.raw("input_schema", callable->schema.line());
  }
  if (!refusal.failure.items.empty()) error.raw("items", refusal.failure.items);
  error.close();
  outer.close();
  return api::json_response(refusal.status, std::move(body));
}

api::Response answer_with(OpenCall const& call) {
  if (auto const data = data_in(call.receipt))
    return api::json_response(status_of(is_partial(call.receipt)), std::string{*data});
  return api::json_response(409, call.receipt);
}

Refusal call_closed() {
  return {409, {"CALL_CLOSED", "This tool call has ended, or another one has taken its place."}};
}

Refusal other_arguments() {
  return {409, {"OTHER_ARGUMENTS", "These are not the arguments that were recorded for this tool call."}};
}

// Whether the body is the input of the call as it was recorded, before the call was started.
bool is_recorded(OpenCall const& call, Callable const& callable, std::string const& body) {
  auto const name = callable.method.name;
  auto const dot = name.find('.');
  std::string args;
  JsonObject{args}
      .text("module", name.substr(0, dot))
      .text("method", name.substr(dot + 1))
      .raw("input", body)
      .close();
  return call.name == name && call.args_hash == sha256_hex(args);
}

Refusal invalid_input(std::string_view method, std::string const& what) {
  return {400, {kInvalidInput, std::string{method} + " input does not match method schema: " + what}};
}

class ToolRoute {
 public:
  explicit ToolRoute(ToolRouteParts parts)
      : calls_{parts.sql},
        clock_{parts.clock},
        credentials_{parts.credentials},
        storage_limit_{parts.storage_bytes_per_user},
        output_limit_{parts.output_bytes} {
    for (auto& method : parts.methods) {
      auto name = std::string{method.name};
      callables_.emplace(std::move(name), compile(std::move(method)));
    }
  }

  asio::awaitable<api::Reply> call(api::Request request) const {
    auto const name = request.param("module") + "." + request.param("method");
    auto const found = callables_.find(name);
    auto const* const callable = found != callables_.end() ? &found->second : nullptr;
    auto granted = check_grant(request, name, callable != nullptr);
    if (auto const* const refusal = std::get_if<Refusal>(&granted)) {
      log_refusal(request, name, *refusal);
      co_return refuse(*refusal, nullptr);
    }
    auto grant = std::get<base::ToolGrant>(std::move(granted));
    auto answer = co_await call_granted(callable, grant, request);
    if (!answer) co_return api::problem_from(answer.error(), request.request_id);
    if (auto const* const refusal = std::get_if<Refusal>(&*answer)) {
      log_refusal(request, name, *refusal);
      co_return refuse(*refusal, callable);
    }
    co_return std::get<api::Response>(std::move(*answer));
  }

 private:
  using Answer = std::variant<api::Response, Refusal>;

  // Whom the call is for. The credential must be for exactly this method.
  [[nodiscard]] std::variant<base::ToolGrant, Refusal> check_grant(api::Request const& request,
                                                                   std::string const& name,
                                                                   bool exists) const {
    auto const header = request.header("Authorization");
    if (!header || !header->starts_with(kBearer) || request.count_headers("Authorization") != 1) {
      return Refusal{401, {"NO_CREDENTIAL", "The call carries no credential."}};
    }
    auto verified = credentials_.verify(header->substr(kBearer.size()), clock_.now_ms() / 1000);
    if (auto const* const bad = std::get_if<base::TokenRefusal>(&verified)) {
      bool const expired = bad->expired;
      return Refusal{401,
                     {expired ? "CREDENTIAL_EXPIRED" : "INVALID_CREDENTIAL",
                      expired ? "The call took longer than its credential is valid."
                              : "The call's credential is not valid here."}};
    }
    auto& grant = std::get<base::ToolGrant>(verified);
    if (grant.method != name) {
      return Refusal{403, {"OUT_OF_SCOPE", "The call's credential is for another method."}};
    }
    if (!exists) return Refusal{404, {"UNKNOWN_METHOD", "There is no such method."}};
    return std::move(grant);
  }

  [[nodiscard]] store::Async<Answer> call_granted(Callable const* callable, base::ToolGrant grant,
                                                  api::Request request) const {
    auto open = co_await calls_.find(grant);
    if (!open) co_return open.error();
    if (!*open) co_return Answer{call_closed()};
    if (!is_recorded(**open, *callable, request.body)) co_return Answer{other_arguments()};
    if (!(*open)->receipt.empty()) co_return Answer{answer_with(**open)};
    auto input = read_input(*callable, request.body);
    if (auto* const refusal = std::get_if<Refusal>(&input)) co_return Answer{std::move(*refusal)};
    auto answer =
        co_await callable->method.run(make_call(grant, (*open)->profile, std::get<Input>(std::move(input))));
    if (!answer) co_return answer.error();
    if (auto* const failure = std::get_if<MethodFailure>(&*answer)) {
      co_return Answer{refuse_failure(*callable, std::move(*failure))};
    }
    auto result = std::get<MethodResult>(std::move(*answer));
    if (is_too_large(result)) co_return Answer{too_large()};
    if (result.effect.empty()) co_return Answer{api::json_response(200, std::move(result.data))};
    if (result.takes_storage && is_full(**open)) co_return Answer{storage_full()};
    auto done = co_await write(std::move(grant), std::move(result));
    co_return done;
  }

  [[nodiscard]] store::Async<Answer> write(base::ToolGrant grant, MethodResult result) const {
    auto receipt = receipt_of_effect(result.data, result.partial);
    auto const written = co_await calls_.take_effect(grant, std::move(receipt), std::move(result.effect));
    if (written) co_return Answer{api::json_response(status_of(result.partial), std::move(result.data))};
    if (written.error().code != Errc::conflict) co_return written.error();
    auto const open = co_await calls_.find(grant);
    if (!open) co_return open.error();
    if (!*open) co_return Answer{call_closed()};
    if (!(*open)->receipt.empty()) co_return Answer{answer_with(**open)};
    co_return Answer{conflict()};
  }

  // An input that is valid except for the faults of single items.
  struct Input {
    json::object object;
    std::vector<std::string> item_faults;
  };

  static std::variant<Input, Refusal> read_input(Callable const& callable, std::string const& body) {
    auto parsed = parse_json(body);
    if (auto const* const problem = std::get_if<JsonProblem>(&parsed)) {
      return invalid_input(callable.method.name, to_string(*problem));
    }
    auto& document = std::get<json::value>(parsed);
    if (!document.is_object()) return invalid_input(callable.method.name, "it must be an object");
    auto judged = callable.schema.judge(document.get_object());
    if (!judged.fault.empty()) return invalid_input(callable.method.name, judged.fault);
    return Input{std::move(document.get_object()), std::move(judged.item_faults)};
  }

  [[nodiscard]] MethodCall make_call(base::ToolGrant const& grant, std::string const& profile,
                                     Input input) const {
    MethodCall call{grant.user, read_stored_profile(profile).profile.settings.preferences,
                    std::move(input.object), clock_.now_ms()};
    call.item_faults = std::move(input.item_faults);
    return call;
  }

  static Refusal refuse_failure(Callable const& callable, MethodFailure failure) {
    if (failure.code == kInvalidInput) return invalid_input(callable.method.name, failure.message);
    return {422, std::move(failure)};
  }

  static Refusal storage_full() {
    return {507,
            {"STORAGE_QUOTA_EXCEEDED", "The user has no storage left; something must be deleted first."}};
  }

  // Either the run is being canceled, or a row that the effect needs has changed meanwhile.
  static Refusal conflict() {
    return {409,
            {"CONFLICT",
             "The call cannot take effect: its run is being canceled, or what it was to "
             "change was changed meanwhile."}};
  }

  static Refusal too_large() {
    return {422,
            {"OUTPUT_TOO_LARGE",
             "The answer would be larger than allowed, so nothing was done; ask for less at "
             "once, such as a smaller batch."}};
  }

  [[nodiscard]] bool is_too_large(MethodResult const& result) const {
    return output_limit_ > 0 && result.data.size() + kPrintedBesideData > output_limit_;
  }

  [[nodiscard]] bool is_full(OpenCall const& open) const {
    return storage_limit_ > 0 && open.stored_bytes >= storage_limit_;
  }

  static void log_refusal(api::Request const& request, std::string const& name, Refusal const& refusal) {
    base::log(base::LogLevel::info, "tool call refused",
              {{"request_id", request.request_id}, {"method", name}, {"code", refusal.failure.code}});
  }

  mutable ToolCalls calls_;
  base::Clock const& clock_;
  base::ToolCredentials const& credentials_;
  std::int64_t storage_limit_;
  std::size_t output_limit_;
  std::map<std::string, Callable, std::less<>> callables_;
};

}  // namespace

void add_tool_route(api::Router& router, ToolRouteParts parts) {
  auto route = std::make_shared<ToolRoute const>(std::move(parts));
  router.add(api::Method::post, "/api/v1/tools/{module}/{method}", api::Access::open,
             [route = std::move(route)](api::Request request) { return route->call(std::move(request)); });
}

}  // namespace runnel::modules

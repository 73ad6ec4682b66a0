#pragma once

#include <boost/json/object.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "runnel/core/ids.h"
#include "runnel/core/profile.h"
#include "runnel/store/sql.h"

// A method is what a model can do with a module, through the tool project_cli: calendar.create, for example.
namespace runnel::modules {

// The code of a failure whose cause is the input. The model also gets the method's schema, so that it can
// correct itself (TOOL-4).
inline constexpr char kInvalidInput[] = "INVALID_ACTION_INPUT";

// A call of a method for a user. Its input is valid by the method's schema.
struct MethodCall {
  MethodCall(UserId who, Preferences frozen, boost::json::object sent, std::int64_t now)
      : user{std::move(who)}, preferences{std::move(frozen)}, input{std::move(sent)}, now_ms{now} {}

  UserId user;
  Preferences preferences;  // As they were when the run was admitted.
  boost::json::object input;
  std::int64_t now_ms;  // UNIX milliseconds.
  // For a batch, what is wrong with each item by the schema of items; an empty text if nothing is. An item
  // that is wrong fails alone, so only the items without a fault are valid.
  std::vector<std::string> item_faults{};
};

// What a method has found out, or will have done once its effect is written.
struct MethodResult {
  explicit MethodResult(std::string found, std::vector<store::SqlStatement> changes = {})
      : data{std::move(found)}, effect{std::move(changes)} {}

  // A compact JSON object with what a next call needs: ids, outcomes, counts. Nothing of the input (V2-2).
  std::string data;
  // Empty if the method changes nothing. Otherwise it is written in one transaction with the call's receipt,
  // so that it happens once or not at all (RUN-12). A statement that touches fewer rows than it must fails
  // the call.
  std::vector<store::SqlStatement> effect;
  bool partial = false;       // True if some items of a batch have failed and others have not (TOOL-12).
  bool takes_storage = true;  // False if the effect is also allowed when the user has no storage left.
};

// Why a method has done nothing, in words for the model.
struct MethodFailure {
  MethodFailure(std::string short_name, std::string words)
      : code{std::move(short_name)}, message{std::move(words)} {}

  std::string code;
  std::string message;
  std::string items{};  // For a batch, a JSON array with the outcome of each item. Otherwise empty.
};

using MethodAnswer = std::variant<MethodResult, MethodFailure>;

struct Method {
  std::string_view name;          // "module.method". The table in the module's commands.h has it, too.
  std::string_view input_schema;  // The JSON Schema of its input, an object (input_schema.h).
  // Writes nothing itself. May be called on any core; an error is not the model's fault.
  std::function<store::Async<MethodAnswer>(MethodCall)> run;
};

}  // namespace runnel::modules

#include "runnel/runtime/execution/answer.h"

#include <boost/json.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runnel/core/json/parse.h"
#include "runnel/core/json/write.h"

namespace runnel::runtime {

namespace json = boost::json;

namespace {

// The fields of the stage's result and of earlier stages' results.
class Findings {
 public:
  // Parentheses, because braces would make a JSON array.
  Findings(std::string const& own, flow::Results const& earlier) : own_(parse(own)), earlier_{earlier} {}

  [[nodiscard]] json::value get(std::optional<flow::FieldPath> const& path) const {
    if (!path) return nullptr;
    if (path->stage.empty()) return member(own_, path->field);
    auto const stage = earlier_.find(path->stage);
    return stage == earlier_.end() ? json::value(nullptr) : member(parse(stage->second), path->field);
  }

 private:
  static json::value parse(std::string const& text) { return parse_stored_json(text).value(); }
  static json::value member(json::value const& object, std::string const& field) {
    auto const* value = object.is_object() ? object.get_object().if_contains(field) : nullptr;
    return value != nullptr ? *value : json::value(nullptr);
  }

  json::value own_;
  flow::Results const& earlier_;
};

std::string text_in(json::value const& value) {
  return value.is_string() ? std::string{value.get_string()} : std::string{};
}

std::vector<std::string> texts_in(json::value const& value) {
  std::vector<std::string> out;
  if (!value.is_array()) return out;
  for (auto const& item : value.get_array()) {
    if (item.is_string()) out.push_back(text_in(item));
  }
  return out;
}

AnswerStatus status_in(json::value const& value) {
  auto const word = text_in(value);
  if (word == "PARTIAL") return AnswerStatus::partial_success;
  if (word == "FAILED") return AnswerStatus::failed;
  return AnswerStatus::success;
}

// The wire carries null or an object, so plain text from the model becomes an object.
std::optional<JsonText> error_in(json::value const& value) {
  if (value.is_object()) return JsonText::parse(json::serialize(value)).value();
  auto const words = text_in(value);
  if (words.empty()) return std::nullopt;
  std::string out;
  JsonObject{out}.text("message", words).close();
  return JsonText::parse(out).value();
}

}  // namespace

bool answers(flow::Stage const& stage, std::string const& label) {
  return stage.answer && (stage.answer->on.empty() || stage.answer->on == label);
}

AnswerCompleted make_answer(flow::Stage const& stage, StageResult const& end, flow::Results const& earlier) {
  AnswerCompleted answer;
  answer.message = end.reply.message;
  answer.stage = stage.name;
  if (end.prose) {
    // Text that the model could not finish is a partial answer.
    bool const whole =
        end.reply.finish == model::Finish::stop || end.reply.finish == model::Finish::tool_calls;
    answer.status = whole ? AnswerStatus::success : AnswerStatus::partial_success;
    answer.answer = end.words;
    return answer;
  }
  Findings const findings{end.result, earlier};
  auto const& fields = *stage.answer;
  answer.answer = text_in(findings.get(flow::FieldPath{{}, fields.text}));
  answer.status = status_in(findings.get(fields.status));
  answer.error = error_in(findings.get(fields.error));
  answer.suggested_actions = texts_in(findings.get(fields.suggested_actions));
  answer.key_points = texts_in(findings.get(fields.key_points));
  auto type = text_in(findings.get(fields.result_type));
  if (!type.empty()) answer.result_type = std::move(type);
  return answer;
}

}  // namespace runnel::runtime

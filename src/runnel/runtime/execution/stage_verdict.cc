#include "runnel/runtime/execution/stage_verdict.h"

#include <boost/json.hpp>

#include <string_view>
#include <utility>

#include "runnel/core/text/text.h"
#include "runnel/runtime/execution/answer.h"

namespace runnel::runtime {

namespace json = boost::json;
using Kind = StageVerdict::Kind;

namespace {

constexpr char kEmpty[] = "the output contains no answer";
constexpr char kCut[] = "the output was cut off because it was too long: be brief";

StageVerdict reject(Fault fault, std::vector<std::string> problems) {
  StageVerdict verdict;
  verdict.kind = Kind::rejected;
  verdict.fault = fault;
  verdict.problems = std::move(problems);
  return verdict;
}

// Whether the result is the run's answer but its text is blank.
bool is_wordless_answer(flow::Stage const& stage, json::object const& value) {
  if (!answers(stage, label_of(stage, value))) return false;
  auto const* text = value.if_contains(stage.answer->text);
  return text == nullptr || !text->is_string() || is_blank(std::string_view{text->get_string()});
}

StageVerdict judge_words(flow::Stage const& stage, ModelReply const& reply, bool has_words) {
  if (has_words || !stage.answer) return {};
  if (reply.finish == model::Finish::length) return reject(Fault::cut, {kCut});
  return reject(Fault::empty, {kEmpty});
}

// Judges an output that breaks the stage's contract.
StageVerdict judge_broken(flow::Stage const& stage, ModelReply const& reply, flow::Reading reading,
                          bool has_words) {
  if (!reading.is_json && stage.prose_allowed && has_words) return {};
  if (reply.finish == model::Finish::length) {
    StageVerdict partial;
    partial.kind = Kind::partial;
    if (stage.answer && !is_blank(reply.shown)) return partial;
    reading.problems.insert(reading.problems.begin(), kCut);
    return reject(Fault::cut, std::move(reading.problems));
  }
  if (stage.answer && !has_words) reading.problems.insert(reading.problems.begin(), kEmpty);
  return reject(stage.answer && !has_words ? Fault::empty : Fault::contract, std::move(reading.problems));
}

}  // namespace

std::string label_of(flow::Stage const& stage, json::object const& value) {
  auto const* label = stage.router.empty() ? nullptr : value.if_contains(stage.router);
  return label != nullptr && label->is_string() ? std::string{label->get_string()} : std::string{};
}

StageVerdict judge_output(flow::Stage const& stage, ModelReply const& reply, bool closing) {
  bool const has_words = !is_blank(reply.output);
  if (closing && !reply.calls.empty() && !has_words) {
    StageVerdict out_of_rounds;
    out_of_rounds.kind = Kind::out_of_rounds;
    return out_of_rounds;
  }
  if (!stage.contract) return judge_words(stage, reply, has_words);
  if (reply.prose && has_words) return {};
  auto reading = flow::read_output(*stage.contract, reply.output);
  if (!reading.problems.empty()) return judge_broken(stage, reply, std::move(reading), has_words);
  if (is_wordless_answer(stage, reading.value))
    return reject(Fault::empty, {"/" + stage.answer->text + ": " + kEmpty});
  StageVerdict good;
  good.reading = std::move(reading);
  return good;
}

CallTrouble explain_rejection(flow::Stage const& stage, Fault fault) {
  switch (fault) {
    case Fault::empty:
      return {"MODEL_EMPTY_ANSWER",
              "the model gave no answer in stage '" + stage.name + "', even when asked again",
              "stage " + stage.name};
    case Fault::cut:
      return {"MODEL_TOO_LONG",
              "the model's output in stage '" + stage.name +
                  "' was cut off for its length, even when asked again",
              "stage " + stage.name};
    case Fault::contract:
      break;
  }
  auto const contract = stage.contract ? stage.contract->name() : std::string{"none"};
  return {"CONTRACT_VIOLATION", "the output of stage '" + stage.name + "' does not keep to its contract",
          "stage " + stage.name + ", contract " + contract};
}

}  // namespace runnel::runtime

#include "runnel/runtime/execution/progress.h"

#include <boost/json.hpp>

#include <algorithm>
#include <utility>

#include "runnel/core/fact/fact_json.h"
#include "runnel/core/json/members.h"
#include "runnel/core/json/parse.h"
#include "runnel/core/json/text.h"
#include "runnel/core/json/write.h"
#include "runnel/core/text/text.h"

namespace runnel::runtime {

namespace json = boost::json;

namespace {

std::string text_of(json::object const& body, std::string_view key) {
  auto const* value = body.if_contains(key);
  return value != nullptr && value->is_string() ? std::string{value->get_string()} : std::string{};
}

PromptMessage assistant_said(std::string text) {
  PromptMessage message;
  message.speaker = Speaker::assistant;
  message.text = std::move(text);
  return message;
}

PromptMessage read_turn(json::object const& body) {
  auto turn = assistant_said(text_of(body, "text"));
  turn.reasoning = text_of(body, "reasoning");
  auto const* calls = body.if_contains("calls");
  if (calls == nullptr || !calls->is_array()) return turn;
  for (auto const& item : calls->get_array()) {
    if (auto const* call = item.if_object())
      turn.tool_calls.push_back({text_of(*call, "id"), text_of(*call, "name"), text_of(*call, "arguments")});
  }
  return turn;
}

// Checkpoints of older versions name no fault; theirs is `contract`.
Fault fault_of(json::object const& body) {
  auto const name = text_of(body, "fault");
  for (auto const fault : {Fault::empty, Fault::cut}) {
    if (name == to_string(fault)) return fault;
  }
  return Fault::contract;
}

std::vector<std::string> client_calls_in(json::object const& body) {
  std::vector<std::string> ids;
  for (auto const& id : list_at(body, "client_calls")) {
    if (auto const* text = id.if_string()) ids.emplace_back(*text);
  }
  return ids;
}

std::string turn_body(PromptMessage const& turn, std::vector<std::string> const& client_calls) {
  std::string body;
  JsonObject object{body};
  object.text("text", turn.text).text("reasoning", turn.reasoning);
  append_json_array(object.key("calls"), turn.tool_calls, [](std::string& out, auto const& call) {
    JsonObject{out}.text("id", call.id).text("name", call.name).text("arguments", call.arguments).close();
  });
  if (!client_calls.empty()) append_json_array(object.key("client_calls"), client_calls, append_json_string);
  object.close();
  return body;
}

}  // namespace

char const* to_string(Fault fault) {
  switch (fault) {
    case Fault::empty:
      return "empty";
    case Fault::cut:
      return "cut";
    case Fault::contract:
      break;
  }
  return "contract";
}

std::string result_in(store::Checkpoint const& checkpoint) {
  auto const document = parse_stored_json(checkpoint.body);
  auto const* const body = document ? document->if_object() : nullptr;
  if (checkpoint.kind != kStageCheckpoint || body == nullptr) return {};
  auto const result = JsonText::parse(text_of(*body, "result"));
  return result && result->is_object() ? result->str() : std::string{};
}

Result<Progress> Progress::from(std::vector<store::Checkpoint> const& checkpoints) {
  Progress progress;
  for (auto const& checkpoint : checkpoints) {
    auto const applied = progress.apply(checkpoint);
    if (!applied) return applied.error();
  }
  return progress;
}

Result<void> Progress::apply(store::Checkpoint const& checkpoint) {
  Error const bad{Errc::internal, "checkpoint " + std::to_string(checkpoint.number) + " cannot be read"};
  json::error_code error;
  auto const document = json::parse(checkpoint.body, error);
  if (error || !document.is_object() || checkpoint.number != number_ + 1) return bad;
  auto const& body = document.get_object();
  if (checkpoint.kind == kStageCheckpoint) {
    auto const* usage = body.if_contains("usage");
    auto booked = parse_usage_json(usage != nullptr ? json::serialize(*usage) : "");
    if (!booked) return bad;
    booked_ = std::move(*booked);
    add_stage(checkpoint.stage, text_of(body, "result"), text_of(body, "label"));
  } else if (checkpoint.kind == kTurnCheckpoint) {
    add_turn(read_turn(body), client_calls_in(body));
  } else if (checkpoint.kind == kToolCheckpoint) {
    add_result(text_of(body, "call"), text_of(body, "result"));
  } else if (checkpoint.kind == kRejectedCheckpoint) {
    add_rejection(text_of(body, "output"), text_of(body, "repair"), fault_of(body));
  } else {
    return bad;
  }
  number_ = checkpoint.number;
  return {};
}

store::Checkpoint Progress::next(std::string const& stage, char const* kind, std::string body) {
  store::Checkpoint checkpoint;
  checkpoint.number = ++number_;
  checkpoint.stage = stage;
  checkpoint.kind = kind;
  checkpoint.body = std::move(body);
  return checkpoint;
}

store::Checkpoint Progress::finish_stage(std::string const& stage, std::string const& result,
                                         std::string const& label, std::vector<Usage> const& booked) {
  add_stage(stage, result, label);
  booked_ = booked;
  std::string body;
  JsonObject object{body};
  object.text("result", result).text("label", label);
  append_usage_json(object.key("usage"), booked);
  object.close();
  return next(stage, kStageCheckpoint, std::move(body));
}

store::Checkpoint Progress::take_turn(std::string const& stage, PromptMessage const& turn,
                                      std::vector<std::string> const& client_calls) {
  add_turn(turn, client_calls);
  return next(stage, kTurnCheckpoint, turn_body(turn, client_calls));
}

std::size_t Progress::place_of(std::string const& call) const {
  auto const found = std::find_if(last_turn_.begin(), last_turn_.end(),
                                  [&](ToolCall const& candidate) { return candidate.id == call; });
  return static_cast<std::size_t>(found - last_turn_.begin());
}

store::Checkpoint Progress::finish_call(std::string const& stage, std::string const& call,
                                        std::string const& result) {
  add_result(call, result);
  std::string body;
  JsonObject{body}.text("call", call).text("result", result).close();
  return next(stage, kToolCheckpoint, std::move(body));
}

store::Checkpoint Progress::reject_output(std::string const& stage, std::string const& output,
                                          std::string const& repair, Fault fault) {
  add_rejection(output, repair, fault);
  std::string body;
  JsonObject{body}.text("output", output).text("repair", repair).text("fault", to_string(fault)).close();
  return next(stage, kRejectedCheckpoint, std::move(body));
}

void Progress::add_stage(std::string const& stage, std::string const& result, std::string const& label) {
  ++all_answers_;
  results_[stage] = result;
  last_stage_ = stage;
  last_label_ = label;
  conversation_.clear();
  last_turn_.clear();
  pending_.clear();
  client_calls_.clear();
  turns_ = 0;
  rejections_ = 0;
  cuts_ = 0;
  rejected_words_ = false;
}

void Progress::add_turn(PromptMessage turn, std::vector<std::string> const& client_calls) {
  ++all_answers_;
  last_turn_ = turn.tool_calls;
  pending_.clear();
  client_calls_.clear();
  for (auto const& call : last_turn_) {
    bool const is_clients =
        std::find(client_calls.begin(), client_calls.end(), call.id) != client_calls.end();
    (is_clients ? client_calls_ : pending_).push_back(call);
  }
  all_calls_ += static_cast<std::int64_t>(turn.tool_calls.size());
  conversation_.push_back(std::move(turn));
  ++turns_;
  ++all_turns_;
}

void Progress::add_result(std::string const& call, std::string const& result) {
  PromptMessage message;
  message.speaker = Speaker::tool;
  message.text = result;
  message.tool_call_id = call;
  conversation_.push_back(std::move(message));
  auto const done = std::find_if(pending_.begin(), pending_.end(),
                                 [&](ToolCall const& candidate) { return candidate.id == call; });
  if (done != pending_.end()) pending_.erase(done);
}

void Progress::add_rejection(std::string const& output, std::string const& repair, Fault fault) {
  ++all_answers_;
  last_fault_ = fault;
  if (fault == Fault::cut) ++cuts_;
  if (!is_blank(output)) {  // Providers refuse empty messages.
    rejected_words_ = true;
    conversation_.push_back(assistant_said(output));
  }
  PromptMessage message;
  message.text = repair;
  conversation_.push_back(std::move(message));
  ++rejections_;
  ++all_rejections_;
}

}  // namespace runnel::runtime

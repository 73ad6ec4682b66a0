// The body of a provider's streamed answer: the event stream, chunks, tool calls and the end.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "fuzz/target.h"
#include "runnel/core/text/text.h"
#include "runnel/model/openai/answer_reader.h"

namespace {

using namespace runnel;
using namespace runnel::model;

std::shared_ptr<ProviderOptions const> local_server() {
  auto options = std::make_shared<ProviderOptions>();
  options->vendor = find_vendor("local").value();
  options->api_key = Secret{"sk-canary-0123456789"};
  return options;
}

// What a reader of the events has at the end.
struct Answer {
  std::string text;
  std::string reasoning;
  std::vector<ToolCall> shown;
  CallEvent end;
};

bool is_end(CallEvent const& event) {
  return std::holds_alternative<CallFinished>(event) || std::holds_alternative<CallFailed>(event);
}

void take_tool_piece(Answer& answer, ToolCallPiece const& piece) {
  if (piece.index >= answer.shown.size()) answer.shown.resize(piece.index + 1);
  auto& call = answer.shown[piece.index];
  require(call.id.empty() != piece.id.empty(), "a call's id comes once, with its first piece");
  require(piece.id.empty() == piece.name.empty(), "a call's name comes with its id");
  if (!piece.id.empty()) call = ToolCall{piece.id, piece.name, ""};
  call.arguments += piece.arguments;
}

Answer read(std::string_view body, std::size_t piece) {
  static auto const options = local_server();
  AnswerReader reader{options};
  std::vector<CallEvent> events;
  for (; !body.empty() && !reader.is_over(); body.remove_prefix(std::min(piece, body.size())))
    reader.feed(body.substr(0, piece), events);
  reader.finish(events);
  reader.end(events);
  require(std::count_if(events.begin(), events.end(), is_end) == 1 && is_end(events.back()),
          "only the last event is an end");

  Answer answer;
  for (auto const& event : events) {
    if (auto const* text = std::get_if<TextPiece>(&event)) answer.text += text->text;
    if (auto const* reasoning = std::get_if<ReasoningPiece>(&event)) answer.reasoning += reasoning->text;
    if (auto const* call = std::get_if<ToolCallPiece>(&event)) take_tool_piece(answer, *call);
  }
  answer.end = std::move(events.back());
  return answer;
}

bool is_blank(std::string const& text) {
  return text.find_first_not_of(" \t\r\n") == std::string::npos;
}

void check_calls(std::vector<ToolCall> const& calls, std::vector<ToolCall> shown) {
  std::erase_if(shown, [](ToolCall const& call) { return call.id.empty(); });
  for (auto& call : shown) {
    if (is_blank(call.arguments)) call.arguments = "{}";
  }
  require(calls == shown, "the calls that are executed are the ones that were shown");
  std::set<std::string> ids;
  for (auto const& call : calls)
    require(!call.name.empty() && ids.insert(call.id).second, "each call has a name and an id of its own");
}

void check(Answer const& answer) {
  for (auto const& text : {answer.text, answer.reasoning})
    require(is_utf8(text) && text.find('\0') == std::string::npos, "the text can be stored");
  if (auto const* finished = std::get_if<CallFinished>(&answer.end)) {
    require(finished->tool_calls.empty() == (finished->finish != Finish::tool_calls),
            "there are tool calls exactly if the finish reason says so");
    if (finished->finish == Finish::tool_calls) check_calls(finished->tool_calls, answer.shown);
    return;
  }
  auto const& failed = std::get<CallFailed>(answer.end);
  require(is_utf8(failed.message) && failed.message.size() < 2048, "the message is valid text and short");
  require(failed.message.find("sk-canary") == std::string::npos, "the message has no secret");
}

}  // namespace

RUNNEL_FUZZ_TARGET(model_stream) {
  std::string_view const body{reinterpret_cast<char const*>(data), size};
  auto const whole = read(body, size + 1);
  check(whole);

  auto const pieces = read(body, 1 + size % 7);
  check(pieces);
  require(whole.end.index() == pieces.end.index() && whole.text == pieces.text &&
              whole.reasoning == pieces.reasoning && whole.shown.size() == pieces.shown.size(),
          "the result does not depend on the cuts");
  return 0;
}

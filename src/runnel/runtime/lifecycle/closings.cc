#include "runnel/runtime/lifecycle/closings.h"

#include <boost/json.hpp>

#include <algorithm>
#include <utility>

#include "runnel/core/json/members.h"
#include "runnel/core/json/parse.h"
#include "runnel/core/json/write.h"
#include "runnel/runtime/writing/message_rows.h"
#include "runnel/tools/tool.h"

namespace runnel::runtime {

namespace {

struct CallLabels {
  std::string tool;
  std::string stage;
};

CallLabels labels_in(std::string const& metadata) {
  auto const parsed = parse_stored_json(metadata);
  if (!parsed) return {};
  auto const& object = as_object(*parsed);
  return {text_at(object, "tool_name"), text_at(object, "stage")};
}

// The client's words as an object, which some dialects need: their own if they are one.
JsonText as_result(std::string const& content) {
  auto const parsed = JsonText::parse(content);
  if (parsed && parsed->is_object()) return *parsed;
  std::string text;
  JsonObject{text}.text("content", content).close();
  return JsonText::parse(text).value();
}

tools::ToolOutcome outcome_of(ClientAnswer const* answer) {
  if (answer == nullptr) {
    return tools::tool_failure(
        "CLIENT_TOOL_ABANDONED",
        "the client went on without answering this call; it is unknown whether it was made");
  }
  if (!answer->error.empty()) return tools::tool_failure("CLIENT_TOOL_FAILED", answer->error);
  tools::ToolOutcome outcome;
  outcome.result = as_result(answer->content);
  return outcome;
}

ClientCallClosed closed(store::OpenClientCall const& open, ClientAnswer const* answer, std::string message) {
  auto labels = labels_in(open.metadata);
  auto const args = JsonText::parse(open.args);
  auto outcome = outcome_of(answer);
  ClientCallClosed fact;
  fact.message = MessageId{std::move(message)};
  fact.call = open.call;
  fact.tool = std::move(labels.tool);
  fact.stage = std::move(labels.stage);
  fact.args = args ? *args : JsonText::empty_object();
  fact.status = outcome.status;
  fact.content = answer != nullptr ? answer->content : outcome.result.str();
  fact.result = std::move(outcome.result);
  fact.error = std::move(outcome.error);
  fact.summary = std::move(outcome.summary);
  fact.answered = answer != nullptr;
  return fact;
}

store::NewMessage row_of(ClientCallClosed const& fact, int mask) {
  tools::ToolOutcome outcome;
  outcome.status = fact.status;
  outcome.result = fact.result;
  outcome.error = fact.error;
  ToolResultTexts const texts{
      fact.content, tools::tool_agent_output(fact.tool, fact.call, fact.args, outcome), {}};
  auto row = tool_result_row(fact.message, fact.call, fact.tool, fact.stage, texts, mask);
  row.closes_call = fact.call;
  return row;
}

void append_shown(std::string& out, ClientCallClosed const& fact, std::string const& error) {
  JsonObject object{out};
  object.text("id", fact.message.text).text("role", "tool").text("toolCallId", fact.call.text);
  object.text("content", fact.content);
  if (!error.empty()) object.text("error", error);
  object.close();
}

ClientAnswer const* answer_to(ToolCallId const& call, std::vector<ClientAnswer> const& answers) {
  auto const found =
      std::find_if(answers.begin(), answers.end(), [&](auto const& answer) { return answer.call == call; });
  return found != answers.end() ? &*found : nullptr;
}

}  // namespace

Closings close_calls(std::vector<store::OpenClientCall> const& open, std::vector<ClientAnswer> const& answers,
                     std::set<std::string> taken) {
  Closings closings;
  std::string shown;
  for (auto const& call : open) {
    auto const* const answer = answer_to(call.call, answers);
    bool const keeps_id =
        answer != nullptr && !answer->message_id.empty() && taken.insert(answer->message_id).second;
    auto fact = closed(call, answer, keeps_id ? answer->message_id : mint_uuid());
    if (keeps_id) {
      shown += shown.empty() ? '[' : ',';
      append_shown(shown, fact, answer->error);
    }
    closings.rows.push_back(row_of(fact, call.mask));
    closings.facts.push_back(std::move(fact));
  }
  if (!shown.empty()) closings.shown = JsonText::parse(shown + ']').value();
  return closings;
}

std::string tool_of(std::string const& metadata) {
  return labels_in(metadata).tool;
}

}  // namespace runnel::runtime

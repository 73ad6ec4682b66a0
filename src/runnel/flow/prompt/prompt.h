#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runnel/core/profile.h"
#include "runnel/core/prompt.h"
#include "runnel/flow/flow.h"

// The only place that puts together texts for models.
namespace runnel::flow {

// The message that every model call of a run starts with, byte for byte as FLOW-6 defines it.
std::string system_prompt(Profile const& profile);

// The results of the run's earlier stages: by stage, the JSON object that it wrote. The result of a stage
// without a contract is {"text":…}.
using Results = std::map<std::string, std::string, std::less<>>;

struct PromptInput {
  Profile const& profile;
  Results const& results;
  std::string_view user_text;            // The run's input.
  std::vector<PromptMessage> context;    // As the stage sees it (context.h).
  std::vector<std::string> memories;     // JSON objects or other texts. Untrusted: fenced as data.
  std::vector<std::string> skill_cards;  // The cards of the enabled skills.
  std::int64_t now_ms = 0;
};

// The messages that a stage begins with: the system prompt; the agent's description and its skills (system);
// memories (user, fenced as JSON); the context; the task, with the contract that its output must satisfy
// (user, so that what earlier stages wrote gains no authority). Exception: a task without a contract and
// without words of users or models is part of the agent's message if the user's words are then the last
// message.
//
// Placeholders of agents and tasks: {today} (2026-11-16, in the user's time zone), {weekday}, {timezone},
// {ai_language}, {interface_language}, {country}, {input} (the user's text as a JSON string), {STAGE} (an
// earlier stage's result as JSON) and {STAGE.FIELD} (one field of it as JSON; null if it has no such
// field or that stage has not run). Text from users or models is JSON with everything outside ASCII escaped,
// so that no value can leave its line. A time zone, language or country that is not spelt like one is
// replaced by the default. A result that is not a JSON object is a bug: then this throws.
std::vector<PromptMessage> open_stage(PromptTexts const& texts, Stage const& stage, PromptInput input);

// The lines for PromptInput::skill_cards: the name and the description of each skill that the stage's agent
// has. There are none if the stage has no tools, because then it cannot read more of them (TOOL-11).
std::vector<std::string> skill_cards_of(Stage const& stage);

// Whether this is a placeholder of every run; all others name a stage.
bool is_run_placeholder(std::string_view name);

// The message that sends an output back with what is wrong with it (user).
PromptMessage repair_message(PromptTexts const& texts, std::vector<std::string> const& errors);
// The same for a stage without a contract.
PromptMessage again_message(PromptTexts const& texts, std::vector<std::string> const& errors);

// The message that asks for the answer when the iterations are used up (user).
PromptMessage closing_message(PromptTexts const& texts);

}  // namespace runnel::flow

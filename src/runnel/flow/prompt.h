#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runnel/core/profile.h"
#include "runnel/core/prompt.h"
#include "runnel/flow/flow.h"

// The one place where words for models are put together.
namespace runnel::flow {

// The message that every model call of a run starts with, byte for byte as FLOW-6 has it.
std::string system_prompt(Profile const& profile);

// What earlier stages of the run have found: the JSON object that each wrote, by stage. A stage without a
// contract: {"text":…}.
using Results = std::map<std::string, std::string, std::less<>>;

struct PromptInput {
  Profile const& profile;
  Results const& results;
  std::string_view user_text;            // The run's input.
  std::vector<PromptMessage> context;    // As the stage sees it (context.h).
  std::vector<std::string> memories;     // Untrusted: fenced as data.
  std::vector<std::string> skill_cards;  // Of the enabled skills.
  std::int64_t now_ms = 0;
};

// The messages that a stage begins with: the system prompt; who the agent is, and its skills (system);
// memories (user, fenced as JSON); the context; the task, with the contract that its output must keep (user,
// so that what earlier stages wrote gains no authority). A task without a contract, and without words of
// users or models in it, stands with its agent where the user's words can then be the last.
//
// Placeholders of agents and tasks: {today} (2026-11-16, in the user's zone), {weekday}, {timezone},
// {ai_language}, {interface_language}, {country}, {input} (the user's text as a JSON string), {STAGE} (an
// earlier stage's result as JSON) and {STAGE.FIELD} (one field of it as JSON; null where it has none, or
// where that stage has not run). What comes from users or models is JSON with everything outside ASCII
// escaped, so that no value can leave its line; a zone, language or country that is not spelt like one is the
// default one. A result that is no JSON object throws: it is a bug.
std::vector<PromptMessage> open_stage(PromptTexts const& texts, Stage const& stage, PromptInput input);

// Whether a task or an agent may use this placeholder, stages aside.
bool is_run_placeholder(std::string_view name);

// Sends an output back with what is wrong with it (user).
PromptMessage repair_message(PromptTexts const& texts, std::vector<std::string> const& errors);
// The same where a stage has no contract.
PromptMessage again_message(PromptTexts const& texts, std::vector<std::string> const& errors);

// Asks for the answer when the iterations are used up (user).
PromptMessage closing_message(PromptTexts const& texts);

}  // namespace runnel::flow

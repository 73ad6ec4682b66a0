#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runnel/flow/flow.h"

// Flows for tests, small enough to be read along with them.
namespace runnel::runtime {

inline flow::PromptTexts test_texts() {
  flow::PromptTexts texts;
  texts.agent = flow::Template{"You are {role}."};
  texts.task = flow::Template{"{description}"};
  texts.contract = flow::Template{"Answer as JSON: {schema}"};
  texts.repair = flow::Template{"Wrong: {errors}"};
  texts.again = flow::Template{"Again: {errors}"};
  texts.closing = flow::Template{"Answer now."};
  texts.memories = flow::Template{"{memories}"};
  texts.skills = flow::Template{"{skills}"};
  return texts;
}

// A stage that answers in prose.
inline flow::Stage prose_stage(std::string name) {
  flow::Stage stage;
  stage.name = std::move(name);
  stage.agent.role = flow::Template{stage.name};
  stage.task.description = flow::Template{"Do your part."};
  stage.answer = flow::Answer{};
  return stage;
}

inline flow::Catalog catalog_of(std::vector<flow::Stage> stages, flow::Limits limits = {},
                                std::string const& name = "chat") {
  flow::Flow flow;
  flow.name = name;
  flow.limits = limits;
  flow.stages = std::move(stages);
  flow.stages.front().start = true;
  std::vector<flow::Flow> flows;
  flows.push_back(std::move(flow));
  return flow::Catalog{std::move(flows), test_texts(), name};
}

// A flow like that of FLOW-8.
inline flow::Catalog chat_catalog() {
  std::vector<flow::Stage> stages;
  stages.push_back(prose_stage("chat"));
  return catalog_of(std::move(stages));
}

}  // namespace runnel::runtime

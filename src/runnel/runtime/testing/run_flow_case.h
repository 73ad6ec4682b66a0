#pragma once

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runnel/core/money/token_estimate.h"
#include "runnel/runtime/testing/scripted_provider.h"
#include "runnel/runtime/testing/test_flows.h"
#include "runnel/runtime/testing/test_life.h"
#include "runnel/store/testing/sqlite_under_test.h"
#include "runnel/tools/echo_tool.h"

// Whole runs through flows of several stages, with tools and contracts, on a real database and with a model
// that follows the test's script.
namespace runnel::runtime {

namespace json = boost::json;
using model::TextPiece;
using model::ToolCallPiece;
using store::RunStatus;
using Names = std::vector<std::string>;

constexpr char kIntent[] = R"({"type":"object","required":["route"],"properties":{
  "route":{"type":"string","enum":["DIRECT","NEEDS"]},"brief":{"type":"string"},"text":{"type":"string"}}})";
constexpr char kAnswer[] = R"({"type":"object","required":["status","answer"],"properties":{
  "status":{"type":"string","enum":["SUCCESS","PARTIAL","FAILED"]},"error":{"type":"string"},
  "answer":{"type":"string"}}})";

inline std::shared_ptr<flow::Contract const> contract(char const* name, char const* schema,
                                                      std::vector<flow::Contract::Rule> rules = {}) {
  return std::make_shared<flow::Contract const>(
      flow::Contract::make(name, json::parse(schema).as_object(), std::move(rules)).value());
}

inline flow::Stage intent_stage() {
  auto stage = prose_stage("intent");
  stage.contract = contract("Intent", kIntent, {{"route", "DIRECT", "text"}, {"route", "NEEDS", "brief"}});
  stage.router = "route";
  stage.answer->text = "text";
  stage.answer->on = "DIRECT";
  return stage;
}

inline flow::Stage worker_stage(std::string listen_to, std::string label) {
  auto stage = prose_stage("worker");
  stage.listens = {{std::move(listen_to), std::move(label)}};
  stage.contract = contract("Worker", kAnswer);
  stage.prose_allowed = true;
  stage.answer->text = "answer";
  stage.answer->status = flow::FieldPath{{}, "status"};
  stage.answer->error = flow::FieldPath{{}, "error"};
  stage.tools = {"project_cli"};
  stage.settings.max_iters = 2;
  return stage;
}

inline flow::Catalog two_stages(flow::Limits limits = {}) {
  std::vector<flow::Stage> stages;
  stages.push_back(intent_stage());
  stages.push_back(worker_stage("intent", "NEEDS"));
  return catalog_of(std::move(stages), limits);
}

inline ScriptedAttempt says(std::string text) {
  return {TextPiece{std::move(text)}, answered(10, 5)};
}

inline ScriptedAttempt calls_tool(std::string const& arguments, std::string before = {}) {
  auto end = answered(10, 5, model::Finish::tool_calls);
  end.tool_calls = {{"p1", "project_cli", arguments}};
  ScriptedAttempt attempt;
  if (!before.empty()) attempt.emplace_back(TextPiece{std::move(before)});
  attempt.emplace_back(ToolCallPiece{0, "p1", "project_cli", arguments.substr(0, 5)});
  attempt.emplace_back(ToolCallPiece{0, "", "", arguments.substr(5)});
  attempt.emplace_back(end);
  return attempt;
}

constexpr char kEcho[] = R"({"module":"m","method":"echo","input":{"x":1},"intent":"to see"})";
constexpr char kNeeds[] = R"({"route":"NEEDS","brief":"do it"})";
constexpr char kDone[] = R"({"status":"SUCCESS","answer":"Done."})";

class RunFlowTest : public testing::Test {
 protected:
  // Starts a server with these flows, a model that makes these attempts, and this tool or else the echo tool.
  void begin(std::vector<ScriptedAttempt> attempts, flow::Catalog flows = two_stages(),
             std::unique_ptr<tools::Tool> tool = nullptr) {
    script = std::make_shared<Script>(std::move(attempts));
    std::vector<std::unique_ptr<tools::Tool>> tools;
    if (tool == nullptr) tool = std::make_unique<tools::EchoTool>();
    tools.push_back(std::move(tool));
    life = std::make_unique<Life>(path, scripted("m", script), Terms{}, std::move(flows), std::move(tools));
  }

  RunStatus run(std::vector<ScriptedAttempt> attempts, flow::Catalog flows = two_stages()) {
    begin(std::move(attempts), std::move(flows));
    life->start("r1", "hello");
    return life->ended("r1").status;
  }

  store::TextRows rows(std::string const& statement) { return store::sqlite_rows(path, statement).value(); }

  // For each call: its stage, and the number and the input tokens of the row on which it is booked.
  store::TextRows booked() {
    return rows(
        "SELECT c.stage, m.seq, m.input_tokens FROM model_calls c LEFT JOIN agent_chat_messages m "
        "ON m.message_id = c.message_id ORDER BY c.started_at, c.id");
  }

  template <class T>
  std::vector<T> all() {
    std::vector<T> found;
    for (auto const& fact : life->log("r1")) {
      if (auto const* one = std::get_if<T>(&fact)) found.push_back(*one);
    }
    return found;
  }

  store::TemporaryFolder folder;
  std::string path = folder.file("runnel.db");
  std::shared_ptr<Script> script;
  std::unique_ptr<Life> life;
};

}  // namespace runnel::runtime

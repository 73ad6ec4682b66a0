#include "runnel/model/openai/chat_request.h"

#include <gtest/gtest.h>

#include "runnel/core/json/parse.h"

namespace runnel::model {
namespace {

ProviderOptions options_of(std::string const& vendor) {
  ProviderOptions options;
  options.vendor = find_vendor(vendor).value();
  return options;
}

PromptMessage message(Speaker speaker, std::string text) {
  PromptMessage out;
  out.speaker = speaker;
  out.text = std::move(text);
  return out;
}

CallRequest question() {
  CallRequest request;
  request.model = "m";
  request.messages.push_back(message(Speaker::user, "hi \"you\"\n"));
  return request;
}

CallRequest question_with_tools() {
  auto request = question();
  request.tools.push_back({"f", "does f", R"({"type":"object"})"});
  request.tools.push_back({"g", "", ""});
  return request;
}

CallRequest tool_round() {
  auto request = question();
  auto turn = message(Speaker::assistant, "");
  turn.tool_calls = {{"c1", "f", "{\"x\":1}"}, {"c2", "g", "{\"x\":"}};
  request.messages.push_back(turn);
  auto answer = message(Speaker::tool, "done");
  answer.tool_call_id = "c1";
  request.messages.push_back(answer);
  return request;
}

std::string body_of(CallRequest const& request, ProviderOptions const& options) {
  auto body = write_chat_request(request, options);
  EXPECT_FALSE(check_json_text(body)) << body;
  return body;
}

bool has(std::string const& body, std::string const& part) {
  return body.find(part) != std::string::npos;
}

TEST(ChatRequest, USE_1_PlainQuestion) {
  EXPECT_EQ(body_of(question(), options_of("openai")),
            R"({"model":"m","messages":[{"role":"user","content":"hi \"you\"\n"}],"stream":true,)"
            R"("stream_options":{"include_usage":true}})");
}

TEST(ChatRequest, USE_1_ToolsAndTheirChoice) {
  auto request = question_with_tools();
  auto const body = body_of(request, options_of("openai"));
  EXPECT_TRUE(has(body, R"("tools":[{"type":"function","function":{"name":"f","description":"does f",)"
                        R"("parameters":{"type":"object"}}},{"type":"function","function":{"name":"g",)"
                        R"("description":"","parameters":{"type":"object","properties":{}}}}])"));
  EXPECT_TRUE(has(body, R"("tool_choice":"auto","parallel_tool_calls":true)"));

  request.tool_choice = ToolChoice::none;
  EXPECT_TRUE(has(body_of(request, options_of("openai")), R"("tool_choice":"none")"));
  EXPECT_FALSE(has(body_of(request, options_of("local")), "parallel_tool_calls"));

  request.tools.clear();
  EXPECT_FALSE(has(body_of(request, options_of("openai")), "tool"));
}

TEST(ChatRequest, USE_10_RequiredToolIsAFreeChoiceWhereThinkingForbidsIt) {
  auto request = question_with_tools();
  request.tool_choice = ToolChoice::required;
  for (auto const* vendor : {"deepseek", "dashscope"}) {
    auto options = options_of(vendor);
    options.thinking = Thinking::on;
    EXPECT_TRUE(has(body_of(request, options), R"("tool_choice":"auto")")) << vendor;
    options.thinking = Thinking::off;
    EXPECT_TRUE(has(body_of(request, options), R"("tool_choice":"required")")) << vendor;
  }
  EXPECT_TRUE(has(body_of(request, options_of("openai")), R"("tool_choice":"required")"));
}

TEST(ChatRequest, USE_1_ThinkingIsSwitchedAsEachVendorWantsIt) {
  auto deepseek = options_of("deepseek");
  deepseek.reasoning_effort = "max";
  EXPECT_TRUE(
      has(body_of(question(), deepseek), R"("thinking":{"type":"enabled"},"reasoning_effort":"max")"));
  deepseek.thinking = Thinking::off;
  EXPECT_TRUE(has(body_of(question(), deepseek), R"("thinking":{"type":"disabled"}})"));

  auto dashscope = options_of("dashscope");
  EXPECT_TRUE(has(body_of(question(), dashscope), R"("enable_thinking":false)"));
  dashscope.thinking = Thinking::on;
  EXPECT_TRUE(has(body_of(question(), dashscope), R"("enable_thinking":true)"));

  auto openai = options_of("openai");
  openai.reasoning_effort = "low";
  EXPECT_TRUE(has(body_of(question(), openai), R"("reasoning_effort":"low")"));
  EXPECT_FALSE(has(body_of(question(), openai), "thinking"));
}

TEST(ChatRequest, USE_10_ReasoningGoesBackWithToolCallsWhereItIsDemanded) {
  auto request = tool_round();
  request.messages.insert(request.messages.begin(), message(Speaker::assistant, "earlier"));
  request.messages.front().reasoning = "dropped";
  request.messages[2].reasoning = "because";
  auto deepseek = options_of("deepseek");
  EXPECT_TRUE(
      has(body_of(request, deepseek), R"("content":null,"reasoning_content":"because","tool_calls")"));
  EXPECT_FALSE(has(body_of(request, deepseek), "dropped"));

  request.messages[2].reasoning = "";
  EXPECT_TRUE(has(body_of(request, deepseek), R"("reasoning_content":"")"));

  deepseek.thinking = Thinking::off;
  EXPECT_FALSE(has(body_of(request, deepseek), "reasoning_content"));
  EXPECT_FALSE(has(body_of(request, options_of("openai")), "reasoning_content"));
}

TEST(ChatRequest, USE_1_ToolCallsAndTheirAnswers) {
  auto const body = body_of(tool_round(), options_of("openai"));
  EXPECT_TRUE(has(body, R"({"id":"c1","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}})"));
  EXPECT_TRUE(has(body, R"({"role":"tool","tool_call_id":"c1","content":"done"})"));
}

TEST(ChatRequest, USE_10_ArgumentsThatAreNoJsonAreShownAsSuch) {
  EXPECT_TRUE(has(body_of(tool_round(), options_of("openai")),
                  R"("arguments":"{\"malformed_arguments\":\"{\\\"x\\\":\"}")"));
}

TEST(ChatRequest, USE_1_JsonAnswerNamesTheFormat) {
  auto request = question();
  request.json_answer = true;
  auto const body = body_of(request, options_of("deepseek"));
  EXPECT_TRUE(has(body, R"("response_format":{"type":"json_object"})"));
  EXPECT_TRUE(has(body, R"([{"role":"user","content":"hi \"you\"\n\n\nAnswer with one JSON object."}])"));

  request.messages.front().text = "Reply in Json.";
  EXPECT_TRUE(
      has(body_of(request, options_of("deepseek")), R"([{"role":"user","content":"Reply in Json."}])"));

  auto without = options_of("local");
  without.vendor.json_mode = false;
  EXPECT_FALSE(has(body_of(request, without), "response_format"));
}

TEST(ChatRequest, FLOW_6_TheFormatIsNamedInNoSystemMessage) {
  auto request = tool_round();
  request.json_answer = true;
  request.messages.insert(request.messages.begin(), message(Speaker::system, "Be brief."));
  auto body = body_of(request, options_of("deepseek"));
  EXPECT_TRUE(has(body, R"([{"role":"system","content":"Be brief."},)"
                        R"({"role":"user","content":"hi \"you\"\n\n\nAnswer with one JSON object."},)"));
  EXPECT_TRUE(has(body, R"("content":"done"}])"));

  request.messages = {message(Speaker::system, "Be brief.")};
  body = body_of(request, options_of("deepseek"));
  EXPECT_TRUE(has(body, R"([{"role":"system","content":"Be brief."},)"
                        R"({"role":"user","content":"Answer with one JSON object."}])"));
}

TEST(ChatRequest, USE_1_OutputLimitHasTheVendorsName) {
  auto request = question();
  auto options = options_of("openai");
  options.max_output_tokens = 100;
  EXPECT_TRUE(has(body_of(request, options), R"("max_completion_tokens":100)"));
  request.max_output_tokens = 50;
  EXPECT_TRUE(has(body_of(request, options), R"("max_completion_tokens":50)"));
  EXPECT_TRUE(has(body_of(request, options_of("deepseek")), R"("max_tokens":50)"));
}

TEST(ChatRequest, USE_9_ThoughtsThatMaxTokensDoesNotLimitHaveALimitOfTheirOwn) {
  auto request = question();
  auto options = options_of("dashscope");
  options.thinking = Thinking::on;
  EXPECT_FALSE(has(body_of(request, options), "thinking_budget")) << "without a budget nothing is limited";
  request.max_output_tokens = 50;
  EXPECT_TRUE(has(body_of(request, options), R"("thinking_budget":50)"));
  options.thinking = Thinking::off;
  EXPECT_FALSE(has(body_of(request, options), "thinking_budget"));
  EXPECT_FALSE(has(body_of(request, options_of("deepseek")), "thinking_budget"));
}

}  // namespace
}  // namespace runnel::model

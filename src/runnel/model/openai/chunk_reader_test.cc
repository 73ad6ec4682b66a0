#include "runnel/model/openai/chunk_reader.h"

#include <gtest/gtest.h>

namespace runnel::model {
namespace {

Chunk read_chunk(std::string_view json) {
  Chunk chunk;
  EXPECT_TRUE(ChunkReader{}.read(json, chunk)) << json;
  return chunk;
}

bool is_readable(std::string_view json) {
  Chunk chunk;
  return ChunkReader{}.read(json, chunk);
}

Chunk read_delta(std::string const& delta) {
  return read_chunk(R"({"id":"x","choices":[{"index":0,"delta":)" + delta + R"(,"finish_reason":null}]})");
}

ReportedUsage read_usage(std::string const& usage) {
  return read_chunk(R"({"choices":[],"usage":)" + usage + "}").usage.value_or(ReportedUsage{});
}

TEST(ChunkReader, USE_10_TextMayBeNullAbsentOrEmpty) {
  EXPECT_EQ(read_delta(R"({"content":"a\nb\u00e9\ud83d\ude42"})").text, "a\nbé🙂");
  EXPECT_EQ(read_delta(R"({"role":"assistant","content":null})").text, "");
  EXPECT_EQ(read_delta(R"({"content":""})").text, "");
  EXPECT_EQ(read_delta("{}").text, "");
  EXPECT_EQ(read_delta("null").text, "");
  EXPECT_EQ(read_delta(R"({"content":null,"refusal":"no"})").text, "no");
}

TEST(ChunkReader, USE_10_ReasoningHasTwoNamesAndCountsOnce) {
  EXPECT_EQ(read_delta(R"({"content":null,"reasoning_content":"r"})").reasoning, "r");
  EXPECT_EQ(read_delta(R"({"reasoning":"r"})").reasoning, "r");
  EXPECT_EQ(read_delta(R"({"reasoning":"r","reasoning_content":"r"})").reasoning, "r");
  EXPECT_EQ(read_delta(R"({"reasoning_content":null,"reasoning":"r"})").reasoning, "r");
}

TEST(ChunkReader, USE_10_FinishReasonMayBeAbsentOrNull) {
  EXPECT_EQ(read_chunk(R"({"choices":[{"delta":{}}]})").finish_reason, "");
  EXPECT_EQ(read_chunk(R"({"choices":[{"delta":{},"finish_reason":null}]})").finish_reason, "");
  EXPECT_EQ(read_chunk(R"({"choices":[{"finish_reason":"length","delta":{}}]})").finish_reason, "length");
}

TEST(ChunkReader, USE_10_ToolFragments) {
  auto const calls = read_delta(R"({"tool_calls":[
    {"index":1,"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":"}},
    {"id":null,"function":{"arguments":"1}"}},
    {"index":0,"id":"","function":{"name":"","arguments":null}}]})")
                         .tool_calls;

  ASSERT_EQ(calls.size(), 3U);
  EXPECT_EQ(calls[0].index, 1);
  EXPECT_EQ(calls[0].id, "c1");
  EXPECT_EQ(calls[0].name, "f");
  EXPECT_EQ(calls[0].arguments, "{\"a\":");
  EXPECT_EQ(calls[1].index, std::nullopt);
  EXPECT_EQ(calls[1].arguments, "1}");
  EXPECT_EQ(calls[2].index, 0);
  EXPECT_EQ(calls[2].arguments, "");
}

TEST(ChunkReader, USE_10_ArgumentsThatAreNoTextAreNotTakenForNone) {
  EXPECT_FALSE(is_readable(
      R"({"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"f","arguments":{"a":1}}}]}}]})"));
}

TEST(ChunkReader, USE_3_UsageOfEveryVendor) {
  auto const deepseek = read_usage(
      R"({"prompt_tokens":339,"completion_tokens":83,"total_tokens":422,"prompt_tokens_details":{"cached_tokens":320},
          "completion_tokens_details":{"reasoning_tokens":39},"prompt_cache_hit_tokens":320,"prompt_cache_miss_tokens":19})");
  EXPECT_EQ(deepseek.input_tokens, 339);
  EXPECT_EQ(deepseek.output_tokens, 83);
  EXPECT_EQ(deepseek.total_tokens, 422);
  EXPECT_EQ(deepseek.cached_tokens, 320);
  EXPECT_EQ(deepseek.cache_hit_tokens, 320);
  EXPECT_EQ(deepseek.cache_miss_tokens, 19);
  EXPECT_EQ(deepseek.reasoning_tokens, 39);
  EXPECT_EQ(deepseek.cost, std::nullopt);

  auto const dashscope = read_usage(
      R"({"prompt_tokens":5,"completion_tokens":6.0,"total_tokens":null,"completion_tokens_details":null,
          "prompt_tokens_details":{"cached_tokens":null,"cache_creation_input_tokens":7}})");
  EXPECT_EQ(dashscope.input_tokens, 5);
  EXPECT_EQ(dashscope.output_tokens, 6);
  EXPECT_EQ(dashscope.total_tokens, std::nullopt);
  EXPECT_EQ(dashscope.cached_tokens, std::nullopt);
  EXPECT_EQ(dashscope.cache_write_tokens, 7);
  EXPECT_EQ(dashscope.reasoning_tokens, std::nullopt);
}

TEST(ChunkReader, USE_3_DirectFieldsAndMetadata) {
  auto const usage = read_usage(
      R"({"input_tokens":1,"output_tokens":null,"total_tokens":null,"cost":null,"currency":"CNY","metadata":
          {"prompt_tokens":9,"completion_tokens":2,"total_tokens":3,"total_cost":0.25,
           "prompt_tokens_details":{"cached_tokens":4}},"prompt_tokens_details":null})");

  EXPECT_EQ(usage.input_tokens, 1);
  EXPECT_EQ(usage.output_tokens, 2);
  EXPECT_EQ(usage.total_tokens, 3);
  EXPECT_EQ(usage.cached_tokens, 4);
  EXPECT_EQ(usage.cost, "0.25");
  EXPECT_EQ(usage.cost_currency, "CNY");
}

TEST(ChunkReader, USE_3_CostIsKeptAsItWasWritten) {
  for (auto const* cost : {"0", "1", "-1", "0.1", "0.10", "1e-7", "-0.0", "0.12345678901234567890123456789",
                           "123456789012345678901234567890", "0.000000000001"})
    EXPECT_EQ(read_usage(std::string{R"({"cost":)"} + cost + "}").cost, cost);
  EXPECT_EQ(read_usage(R"({"cost":"0.0012"})").cost, "0.0012");
  EXPECT_EQ(read_usage(R"({"cost":"NaN"})").cost, "NaN");
  EXPECT_EQ(read_usage(R"({"cost":null,"total_cost":2})").cost, "2");
}

TEST(ChunkReader, USE_5_CostThatIsNoNumberIsSomeCost) {
  EXPECT_EQ(read_usage(R"({"cost":true,"total_cost":2})").cost, "true");
  EXPECT_EQ(read_usage(R"({"cost":false})").cost, "false");
  EXPECT_EQ(read_usage(R"({"cost":{},"total_cost":2})").cost, "{}");
  EXPECT_EQ(read_usage(R"({"cost":{"amount":3,"cost":[1]}})").cost, "{}");
  EXPECT_EQ(read_usage(R"({"cost":[1,{"cost":2}]})").cost, "[]");
  EXPECT_EQ(read_usage(R"({"metadata":{"total_cost":[]}})").cost, "[]");
}

TEST(ChunkReader, USE_3_TimeIsInSeconds) {
  EXPECT_EQ(read_usage(R"({"time":1.2345})").latency_ms, 1235);
  EXPECT_EQ(read_usage(R"({"time":2})").latency_ms, 2000);
  EXPECT_EQ(read_usage(R"({"time":0})").latency_ms, 0);
  for (auto const* odd : {"null", "-1", "\"2\"", "true", "{}", "1e9"})
    EXPECT_EQ(read_usage(std::string{R"({"input_tokens":1,"time":)"} + odd + "}").latency_ms, std::nullopt)
        << odd;
}

TEST(ChunkReader, USE_3_WhatIsNoCountFallsThroughToMetadata) {
  for (auto const* odd :
       {"null", "-1", "1.5", "\"4\"", "400000001", "18446744073709551615", "1e30", "true", "{}"}) {
    auto const usage = read_usage(std::string{R"({"input_tokens":)"} + odd + R"(,"total_tokens":)" + odd +
                                  R"(,"metadata":{"prompt_tokens":7,"total_tokens":9}})");
    EXPECT_EQ(usage.input_tokens, 7) << odd;
    EXPECT_EQ(usage.total_tokens, 9) << odd;
  }
  EXPECT_EQ(read_usage(R"({"input_tokens":0,"metadata":{"prompt_tokens":7}})").input_tokens, 0);
  EXPECT_EQ(read_usage(R"({"input_tokens":400000000,"prompt_tokens":7})").input_tokens, 400'000'000);
  EXPECT_EQ(read_usage(R"({"input_tokens":7.0,"prompt_tokens":8})").input_tokens, 7);
}

TEST(ChunkReader, USE_3_NoNumberOfTokensIsNoValue) {
  auto const usage = read_usage(
      R"({"prompt_tokens":-1,"completion_tokens":1.5,"total_tokens":18446744073709551615,"cached_tokens":"4"})");
  EXPECT_EQ(usage, ReportedUsage{});
}

TEST(ChunkReader, USE_10_NullAndEmptyUsageAreNone) {
  EXPECT_FALSE(read_chunk(R"({"choices":[],"usage":null})").usage);
  EXPECT_FALSE(read_chunk(R"({"choices":[],"usage":{}})").usage);
  EXPECT_FALSE(read_chunk(R"({"choices":[],"x_groq":{"usage":{"prompt_tokens":1}}})").usage);
}

TEST(ChunkReader, USE_10_ErrorsOfEveryShape) {
  auto const of = [](std::string_view json) {
    return read_chunk(json).error.value_or(ProviderError{"none", "", ""});
  };
  auto const full = of(R"({"error":{"message":"m","type":"t","param":null,"code":"c"},"request_id":"r"})");
  EXPECT_EQ(full.message, "m");
  EXPECT_EQ(full.type, "t");
  EXPECT_EQ(full.code, "c");
  EXPECT_EQ(of(R"({"error":{"code":503,"message":"m","type":"unavailable_error"}})").code, "503");
  EXPECT_EQ(of(R"({"error":{"code":null,"message":"m"}})").code, "");
  EXPECT_EQ(of(R"({"error":"text"})").message, "text");
  EXPECT_EQ(of(R"({"error":{}})").message, "");
  EXPECT_EQ(of(R"({"detail":"not here"})").message, "not here");
  EXPECT_EQ(of(R"({"detail":[{"loc":["body",0],"msg":"field required","type":"x"}]})").message,
            "field required");
  EXPECT_EQ(of(R"({"code":"Arrearage","message":"unpaid","request_id":"r"})").code, "Arrearage");
  EXPECT_EQ(of(R"({"object":"error","message":"m","type":"t","code":400})").message, "m");
  EXPECT_FALSE(read_chunk(R"({"choices":[],"error":null,"message":"x","detail":null})").error);
}

TEST(ChunkReader, UnknownKeysArePassedOver) {
  auto const chunk = read_chunk(
      R"({"service_tier":"x","obfuscation":"y","timings":{"content":"no","a":[1,{"content":"no"}]},"usage":{"prompt_tokens":1,
          "metadata":7,"other":{"prompt_tokens":2}},"choices":[{"logprobs":{"content":[{"token":"z"}]},
          "delta":{"content":"yes","reasoning_details":[{"text":"no"}]}},null,3],"\u0065rror":null})");
  EXPECT_EQ(chunk.text, "yes");
  EXPECT_EQ(chunk.usage->input_tokens, 1);
  EXPECT_FALSE(chunk.error);
}

TEST(ChunkReader, EscapedKeysAreTheSameKeys) {
  EXPECT_EQ(read_delta(R"({"cont\u0065nt":"a"})").text, "a");
}

TEST(ChunkReader, USE_10_WhatIsNoObjectIsMalformed) {
  for (auto const* json :
       {"", "{", "[]", "1", "\"text\"", "null", "{} {}", "{\"a\":}", "<html>", "[DONE]", "{\"a\":1"})
    EXPECT_FALSE(is_readable(json)) << json;
  EXPECT_FALSE(is_readable(std::string(100, '[') + std::string(100, ']')));
  EXPECT_FALSE(is_readable(R"({"a":)" + std::string(100, '[') + std::string(100, ']') + "}"));
}

TEST(ChunkReader, TextIsStorable) {
  EXPECT_EQ(read_delta(R"({"content":"a\u0000b"})").text, "a\uFFFDb");
  EXPECT_EQ(read_delta("{\"content\":\"a\xFFz\"}").text, "a\uFFFDz");
}

TEST(ChunkReader, NothingStaysFromTheChunkBefore) {
  ChunkReader reader;
  Chunk chunk;
  ASSERT_TRUE(reader.read(R"({"error":{"message":"m","code":"c"},"choices":[{"finish_reason":"stop","delta":
    {"content":"a","reasoning":"b","tool_calls":[{"index":0}]}}],"usage":{"cost":1}})",
                          chunk));
  ASSERT_FALSE(reader.read(R"({"choices":[{"delta":{"content":"c)", chunk));
  ASSERT_TRUE(reader.read("{}", chunk));

  EXPECT_EQ(chunk.text + chunk.reasoning + chunk.finish_reason, "");
  EXPECT_TRUE(chunk.tool_calls.empty());
  EXPECT_FALSE(chunk.usage || chunk.error);
}

TEST(ChunkReader, LongTextComesWhole) {
  std::string text;
  std::string escaped;
  for (int i = 0; i < 20'000; ++i) {
    text += "é\n";
    escaped += "é\\n";
  }
  EXPECT_EQ(read_delta("{\"content\":\"" + escaped + "\"}").text, text);
}

}  // namespace
}  // namespace runnel::model

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "tests/support/call_answer.h"

// Recorded streams of real providers, replayed through a whole call. The expected values come from the list
// that is stored with the recordings.
namespace runnel::model {
namespace {

std::filesystem::path recordings() {
  if (char const* const folder = std::getenv("RUNNEL_FIXTURES")) return folder;
  return std::filesystem::path{RUNNEL_SOURCE_DIR}.parent_path() / "shared" / "fixtures";
}

struct Recording {
  char const* file;
  char const* vendor;
  std::size_t text_bytes;
  std::size_t reasoning_bytes;
  std::vector<ToolCall> calls;
  Finish finish;
  std::int64_t input;
  std::int64_t output;
  std::int64_t total;
  std::optional<std::int64_t> cached;
  std::optional<std::int64_t> reasoning;
};

std::vector<Recording> all_recordings() {
  auto const weather = [](char const* id) {
    return std::vector<ToolCall>{{id, "weather", R"({"location": "San Francisco"})"}};
  };
  auto const none = std::nullopt;
  return {
      {"deepseek-text.chunks.txt", "deepseek", 1859, 0, {}, Finish::length, 13, 400, 413, 0, none},
      {"deepseek-reasoning.chunks.txt", "deepseek", 42, 606, {}, Finish::stop, 18, 219, 237, 0, 205},
      {"deepseek-tool-call.chunks.txt", "deepseek", 0, 191, weather("call_00_ioIn7yN9p1ZOMNpDLwd4MgAF"),
       Finish::tool_calls, 339, 83, 422, 320, 39},
      {"alibaba-text.chunks.txt", "dashscope", 3777, 0, {}, Finish::stop, 18, 779, 797, 0, none},
      {"alibaba-tool-call.chunks.txt", "dashscope", 0, 0, weather("call_eee11723464a4b9eb8cee71d"),
       Finish::tool_calls, 295, 22, 317, 0, none},
      {"openai-text.chunks.txt", "openai", 1730, 0, {}, Finish::stop, 16, 300, 316, 0, 0},
      {"openai-tool-call.raw.sse",
       "openai",
       0,
       0,
       {{"call_QXZLQbxriC1eBnOMXLPMopfe", "get_current_temperature", R"({"city":"San Francisco"})"}},
       Finish::tool_calls,
       66,
       16,
       82,
       0,
       0},
      {"groq-tool-call.chunks.txt",
       "local",
       0,
       0,
       {{"tk85n1k4m", "weather", "{}"}},
       Finish::tool_calls,
       210,
       15,
       225,
       none,
       none},
  };
}

std::string body_of(std::string const& file) {
  std::ifstream in{recordings() / file, std::ios::binary};
  if (!in) ADD_FAILURE() << "no " << file;
  if (file.ends_with(".raw.sse")) return {std::istreambuf_iterator<char>{in}, {}};
  std::string body;
  for (std::string line; std::getline(in, line);)
    body += "data: " + line + "\n\n";
  return body + "data: [DONE]\n\n";
}

CallAnswer replay(Recording const& recording, std::string const& body, std::size_t size) {
  auto const upstream = std::make_shared<Script>();
  upstream->send_in_pieces(body, size);
  return answer_of(upstream, options_for(recording.vendor));
}

void expect_recorded(Recording const& recording, CallAnswer const& answer) {
  EXPECT_EQ(answer.text.size(), recording.text_bytes);
  EXPECT_EQ(answer.reasoning.size(), recording.reasoning_bytes);
  ASSERT_TRUE(answer.finished);
  EXPECT_EQ(answer.finished->tool_calls, recording.calls);
  EXPECT_EQ(answer.finished->finish, recording.finish);
  auto const& usage = answer.finished->usage;
  EXPECT_EQ(usage.input_tokens, recording.input);
  EXPECT_EQ(usage.output_tokens, recording.output);
  EXPECT_EQ(usage.total_tokens, recording.total);
  EXPECT_EQ(usage.cached_tokens, recording.cached);
  EXPECT_EQ(usage.reasoning_tokens, recording.reasoning);
  EXPECT_EQ(usage.cost, std::nullopt);
}

TEST(RecordedStreams, USE_1_EveryRecordingIsReadAsListedHoweverItIsSplit) {
  if (!std::filesystem::exists(recordings())) GTEST_SKIP() << "no recordings at " << recordings();
  for (auto const& recording : all_recordings()) {
    auto const body = body_of(recording.file);
    auto const whole = replay(recording, body, body.size());
    for (std::size_t const size : {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{7},
                                   std::size_t{64}, std::size_t{1500}, body.size()}) {
      SCOPED_TRACE(std::string{recording.file} + " by " + std::to_string(size));
      auto const answer = replay(recording, body, size);
      expect_recorded(recording, answer);
      EXPECT_EQ(answer.text, whole.text);
      EXPECT_EQ(answer.reasoning, whole.reasoning);
    }
  }
}

}  // namespace
}  // namespace runnel::model

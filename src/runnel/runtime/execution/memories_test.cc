// Tests of what the prompts of a run have of what was noted about its user.
#include "runnel/runtime/execution/memories.h"

#include <atomic>
#include <map>

#include "runnel/runtime/testing/run_flow_case.h"

namespace runnel::runtime {
namespace {

class KnownMemories final : public Memories {
 public:
  explicit KnownMemories(std::map<std::string, std::vector<std::string>> known, int failures = 0)
      : known_{std::move(known)}, failures_{failures} {}

  store::Async<std::vector<std::string>> of(UserId user) override {
    if (failures_-- > 0) co_return Error{Errc::unavailable, "busy"};
    auto const found = known_.find(user.text);
    co_return found == known_.end() ? std::vector<std::string>{} : found->second;
  }

 private:
  std::map<std::string, std::vector<std::string>> known_;
  std::atomic<int> failures_;
};

class RunMemoriesTest : public RunFlowTest {
 protected:
  // The messages of each call of a run of ann, which has two stages.
  std::vector<std::vector<PromptMessage>> messages_with(Memories* memories) {
    script = std::make_shared<Script>(std::vector<ScriptedAttempt>{says(kNeeds), says(kDone)});
    life = std::make_unique<Life>(path, scripted("m", script), Terms{}, two_stages(),
                                  std::vector<std::unique_ptr<tools::Tool>>{}, memories);
    life->start("r1", "hello");
    EXPECT_EQ(life->ended("r1").status, RunStatus::completed);
    std::vector<std::vector<PromptMessage>> out;
    for (auto const& request : script->requests())
      out.push_back(request.messages);
    return out;
  }
  static std::size_t holding(std::vector<PromptMessage> const& messages, std::string const& text) {
    std::size_t count = 0;
    for (auto const& message : messages)
      count += message.text.find(text) != std::string::npos ? 1U : 0U;
    return count;
  }
};

TEST_F(RunMemoriesTest, FLOW_6_EveryStageHasTheMemoriesOfItsUserAndOfNobodyElse) {
  KnownMemories memories{{{"ann", {R"({"kind":"user","content":{"likes":["tea"]}})"}},
                          {"bob", {R"({"kind":"user","content":{"likes":["secret"]}})"}}}};

  auto const calls = messages_with(&memories);

  ASSERT_EQ(calls.size(), 2U);
  for (auto const& messages : calls) {
    ASSERT_GT(messages.size(), 2U);
    EXPECT_EQ(messages[2].speaker, Speaker::user);
    EXPECT_EQ(messages[2].text, R"([{"kind":"user","content":{"likes":["tea"]}}])");
    EXPECT_EQ(holding(messages, "tea"), 1U);
    EXPECT_EQ(holding(messages, "secret"), 0U);
  }
}

TEST_F(RunMemoriesTest, FLOW_6_WithoutMemoriesNothingIsAdded) {
  KnownMemories memories{{{"bob", {"{}"}}}};
  auto const with_none = messages_with(&memories);
  life.reset();
  path = folder.file("other.db");
  auto const without = messages_with(nullptr);

  ASSERT_EQ(with_none.size(), without.size());
  for (std::size_t i = 0; i < without.size(); ++i)
    EXPECT_EQ(with_none[i].size(), without[i].size());
}

TEST_F(RunMemoriesTest, DB_3_ARunWaitsForMemoriesThatCannotBeRead) {
  KnownMemories memories{{{"ann", {"likes tea"}}}, 2};

  EXPECT_EQ(messages_with(&memories).at(0).at(2).text, R"(["likes tea"])");
}

}  // namespace
}  // namespace runnel::runtime

#include "runnel/flow/prompt/context.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "runnel/core/money/token_estimate.h"
#include "runnel/flow/testing/prompt_test_support.h"

namespace runnel::flow {
namespace {

using Rows = std::vector<ContextRow>;
constexpr ContextLimits kNoLimits{1'000'000, 0};

ContextRow user_row(std::string text) {
  return {ContextRow::Kind::user, std::move(text), "", "", ""};
}

ContextRow assistant_row(std::string text) {
  return {ContextRow::Kind::assistant, std::move(text), "", "", ""};
}

ContextRow call_row(std::string id, std::string arguments = "{}", std::string reasoning = "") {
  return {ContextRow::Kind::tool_call, std::move(arguments), std::move(id), "project_cli",
          std::move(reasoning)};
}

ContextRow result_row(std::string id, std::string content = "{}") {
  return {ContextRow::Kind::tool_result, std::move(content), std::move(id), "", ""};
}

std::string assembled(Rows const& rows, ContextLimits const& limits) {
  return printed(assemble_context(rows, limits));
}

TEST(Context, FLOW_7_ThreadBecomesMessages) {
  Rows const rows{user_row("hi"),
                  assistant_row("Let me look."),
                  call_row("a", R"({"x":1})", "two things"),
                  call_row("b", R"({"x":2})"),
                  result_row("a", R"({"data":1})"),
                  result_row("b", R"({"data": "2"})"),
                  call_row("c", "{}", "one more"),
                  result_row("c"),
                  assistant_row("Done."),
                  user_row("thanks")};

  EXPECT_EQ(assembled(rows, kNoLimits), R"(=== user
hi
=== assistant
(two things)
Let me look.
--- a: project_cli {"x":1}
--- b: project_cli {"x":2}
=== tool a
{"data":1}
=== tool b
{"data": "2"}
=== assistant
(one more)
--- c: project_cli {}
=== tool c
{}
=== assistant
Done.
=== user
thanks
)");
  EXPECT_TRUE(assemble_context({}, kNoLimits).empty());
}

TEST(Context, FLOW_7_ResultsFollowTheirCallsWhereverTheyStand) {
  EXPECT_EQ(
      assembled({call_row("a"), call_row("b"), result_row("b", "B"), user_row("and?"), result_row("a", "A")},
                kNoLimits),
      "=== assistant\n--- a: project_cli {}\n--- b: project_cli {}\n"
      "=== tool a\nA\n=== tool b\nB\n=== user\nand?\n");
}

TEST(Context, FLOW_7_HalvesOfPairsAndEmptyAnswersAreLeftOut) {
  EXPECT_EQ(
      assembled({result_row("lost"), user_row("u"), assistant_row(""), assistant_row("w"), call_row("open"),
                 call_row("a"), result_row("a"), result_row("a", "again"), call_row("late")},
                kNoLimits),
      "=== user\nu\n=== assistant\nw\n--- a: project_cli {}\n=== tool a\n{}\n");
  EXPECT_EQ(assembled({result_row("a"), call_row("a")}, kNoLimits), "");
}

TEST(Context, FLOW_7_AnIdThatComesAgainPairsWithItsOwnResult) {
  EXPECT_EQ(
      assembled({call_row("a", "1"), result_row("a", "one"), call_row("a", "2"), result_row("a", "two")},
                kNoLimits),
      "=== assistant\n--- a: project_cli 1\n=== tool a\none\n=== assistant\n--- a: project_cli 2\n=== tool "
      "a\ntwo\n");
}

TEST(Context, FLOW_7_NewestWithinTheNumberOfMessages) {
  Rows const rows{user_row("1"), assistant_row("2"), user_row("3"), assistant_row("4"), user_row("5")};

  EXPECT_EQ(assembled(rows, {3, 0}), "=== user\n3\n=== assistant\n4\n=== user\n5\n");
  EXPECT_EQ(assembled(rows, {1, 0}), "=== user\n5\n");
  EXPECT_EQ(assembled(rows, {0, 0}), "=== user\n5\n");
}

TEST(Context, FLOW_7_AGroupThatDoesNotFitEndsTheContext) {
  Rows const rows{user_row("1"),   call_row("a"),      call_row("b"), result_row("a"),
                  result_row("b"), assistant_row("2"), user_row("3")};

  EXPECT_EQ(assembled(rows, {5, 0}), "=== assistant\n2\n=== user\n3\n");
  EXPECT_EQ(assemble_context(rows, {6, 0}).size(), 5U);
  EXPECT_EQ(assemble_context(rows, {7, 0}).size(), 6U);
}

TEST(Context, FLOW_7_NewestWithinTheTokens) {
  std::string const ten(33, 'x');  // Ten tokens, by estimate.
  ASSERT_EQ(estimate_tokens(ten), 10);
  Rows const rows{user_row("old"), assistant_row(ten), user_row(ten)};

  EXPECT_EQ(assemble_context(rows, {40, 21}).size(), 3U);
  EXPECT_EQ(assemble_context(rows, {40, 20}).size(), 2U);
  EXPECT_EQ(assemble_context(rows, {40, 19}).size(), 1U);
}

TEST(Context, FLOW_7_EverythingOfACallCountsAsTokens) {
  std::string const ten(33, 'x');
  Rows const rows{call_row("a", ten, ten), result_row("a", ten), user_row("u")};
  auto const whole = 30 + estimate_tokens("project_cli") + estimate_tokens("u");

  EXPECT_EQ(assemble_context(rows, {40, whole}).size(), 3U);
  EXPECT_EQ(assemble_context(rows, {40, whole - 1}).size(), 1U);
}

TEST(Context, FLOW_7_NewestUserMessageIsThereWhateverItsSize) {
  std::string const much(100'000, 'x');

  EXPECT_EQ(assemble_context({user_row("old"), assistant_row("a"), user_row(much)}, {40, 100}).size(), 1U);
  EXPECT_EQ(assembled({user_row("old"), user_row("new"), assistant_row("1"), assistant_row("2"),
                       assistant_row("3")},
                      {3, 0}),
            "=== user\nnew\n=== assistant\n2\n=== assistant\n3\n");
}

TEST(Context, RUN_9_InputIsInjectedAtTheHeadWhereNoUserSpeaksLast) {
  std::vector<PromptMessage> empty;
  inject_input(empty, "do it");
  EXPECT_EQ(printed(empty), "=== user\ndo it\n");

  auto answered = assemble_context({user_row("u"), assistant_row("a")}, kNoLimits);
  inject_input(answered, "do it");
  EXPECT_EQ(printed(answered), "=== user\ndo it\n=== user\nu\n=== assistant\na\n");

  auto asked = assemble_context({assistant_row("a"), user_row("u")}, kNoLimits);
  inject_input(asked, "do it");
  EXPECT_EQ(printed(asked), "=== assistant\na\n=== user\nu\n");
}

// Threads as they should never be: calls without results, results without calls, repeated ids. Each row has
// its own content.
class RandomThread {
 public:
  explicit RandomThread(unsigned seed) : random_{seed} {}

  Rows make() {
    for (auto turns = below(12); turns > 0; --turns)
      add_turn();
    return std::move(rows_);
  }

  ContextLimits limits() { return {below(30), static_cast<std::int64_t>(below(3) == 0 ? 0 : below(400))}; }

 private:
  std::size_t below(std::size_t end) { return random_() % end; }

  // Unique, and sorted in the order of the rows.
  std::string content() {
    auto text = std::to_string(1'000'000 + rows_.size());
    return text += std::string(below(4) == 0 ? below(300) : 0, 'x');
  }

  std::string id() { return "c" + std::to_string(below(8) == 0 ? 0 : rows_.size()); }

  void add_turn() {
    switch (below(6)) {
      case 0:
      case 1:
        rows_.push_back(user_row(content()));
        break;
      case 2:
        rows_.push_back(assistant_row(content()));
        break;
      case 3:
        rows_.push_back(result_row(id(), content()));
        break;
      default:
        add_calls();
    }
  }

  void add_calls() {
    std::vector<std::string> ids;
    if (below(2) == 0) rows_.push_back(assistant_row(content()));
    for (auto calls = below(4); calls > 0; --calls) {
      ids.push_back(id());
      rows_.push_back(call_row(ids.back(), content(), below(2) == 0 ? content() : ""));
    }
    std::shuffle(ids.begin(), ids.end(), random_);
    for (auto const& each : ids) {
      if (below(10) != 0) rows_.push_back(result_row(each, content()));
    }
  }

  std::mt19937 random_;
  Rows rows_;
};

// A message with the tool messages after it.
struct Block {
  std::vector<PromptMessage> messages;

  [[nodiscard]] bool is_users() const { return messages.front().speaker == Speaker::user; }
  [[nodiscard]] std::size_t rows() const {
    auto const& head = messages.front();
    return (head.text.empty() ? 0 : 1) + head.tool_calls.size() + messages.size() - 1;
  }
  [[nodiscard]] std::int64_t tokens() const {
    auto const& head = messages.front();
    std::int64_t sum = estimate_tokens(head.reasoning);
    for (auto const& message : messages)
      sum += estimate_tokens(message.text);
    for (auto const& each : head.tool_calls)
      sum += estimate_tokens(each.name) + estimate_tokens(each.arguments);
    return sum;
  }
};

std::vector<Block> split_blocks(std::vector<PromptMessage> const& messages) {
  std::vector<Block> blocks;
  for (auto const& message : messages) {
    if (message.speaker != Speaker::tool) blocks.emplace_back();
    blocks.back().messages.push_back(message);
  }
  return blocks;
}

void expect_whole(Block const& block) {
  auto const& calls = block.messages.front().tool_calls;
  ASSERT_EQ(block.messages.size(), calls.size() + 1);
  for (std::size_t i = 0; i < calls.size(); ++i)
    EXPECT_EQ(block.messages[i + 1].tool_call_id, calls[i].id);
}

std::string first_content(Block const& block) {
  auto const& head = block.messages.front();
  return head.text.empty() ? head.tool_calls.front().arguments : head.text;
}

TEST(Context, FLOW_7_PairsAreNeverSplitAndOrderIsKept) {
  for (unsigned seed = 0; seed < 3000; ++seed) {
    RandomThread thread{seed};
    auto const rows = thread.make();
    auto const blocks = split_blocks(assemble_context(rows, seed % 2 == 0 ? kNoLimits : thread.limits()));

    std::string before;
    for (auto const& block : blocks) {
      expect_whole(block);
      EXPECT_LT(before, first_content(block)) << seed;
      before = first_content(block);
    }
  }
}

// A call has a result if the next row with its id is a result.
bool has_result(Rows const& rows, std::size_t at) {
  auto const next = std::find_if(rows.begin() + static_cast<std::ptrdiff_t>(at) + 1, rows.end(),
                                 [&](ContextRow const& row) { return row.call_id == rows[at].call_id; });
  return next != rows.end() && next->kind == ContextRow::Kind::tool_result;
}

TEST(Context, FLOW_7_EveryWordAndEveryPairIsThereWithoutLimits) {
  for (unsigned seed = 0; seed < 3000; ++seed) {
    auto const rows = RandomThread{seed}.make();
    std::size_t expected = 0;
    for (std::size_t at = 0; at < rows.size(); ++at) {
      if (rows[at].kind == ContextRow::Kind::tool_call) expected += has_result(rows, at) ? 2 : 0;
      if (rows[at].call_id.empty()) ++expected;
    }

    std::size_t found = 0;
    for (auto const& block : split_blocks(assemble_context(rows, kNoLimits)))
      found += block.rows();
    EXPECT_EQ(found, expected) << seed;
  }
}

struct Sum {
  std::int64_t rows = 0;
  std::int64_t tokens = 0;

  void add(Block const& block) {
    rows += static_cast<std::int64_t>(block.rows());
    tokens += block.tokens();
  }
  [[nodiscard]] bool within(ContextLimits const& limits) const {
    return rows <= static_cast<std::int64_t>(limits.messages) &&
           (limits.tokens == 0 || tokens <= limits.tokens);
  }
};

// The space that the newest user message leaves is filled from the newest block back to the first one that
// does not fit.
std::vector<Block> filled(std::vector<Block> const& all, ContextLimits const& limits) {
  std::size_t newest_user = all.size();
  for (std::size_t at = 0; at < all.size(); ++at) {
    if (all[at].is_users()) newest_user = at;
  }
  Sum sum;
  if (newest_user < all.size()) sum.add(all[newest_user]);
  std::set<std::size_t> chosen{newest_user};
  for (auto at = all.size(); at-- > 0;) {
    if (at == newest_user) continue;
    sum.add(all[at]);
    if (!sum.within(limits)) break;
    chosen.insert(at);
  }
  chosen.erase(all.size());
  std::vector<Block> out;
  for (auto const at : chosen)
    out.push_back(all[at]);
  return out;
}

TEST(Context, FLOW_7_NewestFillTheLimitsAndOldestAreDropped) {
  for (unsigned seed = 0; seed < 3000; ++seed) {
    RandomThread thread{seed};
    auto const rows = thread.make();
    auto const limits = thread.limits();

    std::vector<PromptMessage> expected;
    for (auto const& block : filled(split_blocks(assemble_context(rows, kNoLimits)), limits))
      expected.insert(expected.end(), block.messages.begin(), block.messages.end());

    EXPECT_EQ(assembled(rows, limits), printed(expected)) << seed;
  }
}

TEST(Context, FLOW_7_CallsWhoseResultsAreTheInputAreKeptWhateverTheirSize) {
  auto result = result_row("a", std::string(1000, 'x'));
  auto const rows = [&] { return Rows{user_row("old"), user_row("ask"), call_row("a"), result}; };
  EXPECT_EQ(assembled(rows(), {10, 30}), "=== user\nask\n");

  result.is_input = true;
  auto const expected =
      "=== user\nask\n=== assistant\n--- a: project_cli {}\n=== tool a\n" + result.content + "\n";
  EXPECT_EQ(assembled(rows(), {10, 30}), expected);
  EXPECT_EQ(assembled(rows(), {1, 0}), expected);
}

TEST(Context, FLOW_7_ALongThreadIsNoHurdle) {
  Rows rows;
  for (int turn = 0; turn < 30'000; ++turn) {
    rows.push_back(call_row("same", "{}"));
    rows.push_back(result_row("same", "{}"));
  }
  for (int open = 0; open < 30'000; ++open)
    rows.push_back(call_row("open" + std::to_string(open)));
  rows.push_back(user_row("u"));

  EXPECT_EQ(assemble_context(rows, {1'000'000, 0}).size(), 60'001U);
  EXPECT_EQ(assemble_context(rows, {41, 0}).size(), 41U);
}

}  // namespace
}  // namespace runnel::flow

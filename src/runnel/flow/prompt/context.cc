#include "runnel/flow/prompt/context.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "runnel/core/money/token_estimate.h"

namespace runnel::flow {
namespace {

using Kind = ContextRow::Kind;
using Rows = std::vector<ContextRow>;

constexpr std::size_t kNoRow = std::numeric_limits<std::size_t>::max();

// For each row: the index of the tool call's result, or kNoRow for a call without a result and for other
// rows.
std::vector<std::size_t> find_results(Rows const& rows) {
  std::vector<std::size_t> result_of(rows.size(), kNoRow);
  std::unordered_map<std::string_view, std::size_t> open;
  for (std::size_t at = 0; at < rows.size(); ++at) {
    if (rows[at].kind == Kind::tool_call) open.insert_or_assign(rows[at].call_id, at);
    if (rows[at].kind != Kind::tool_result) continue;
    auto const call = open.find(rows[at].call_id);
    if (call == open.end()) continue;
    result_of[call->second] = at;
    open.erase(call);
  }
  return result_of;
}

// Rows that are either all in the context or all left out: a user's message, or an answer with its tool calls
// and their results.
struct Group {
  PromptMessage message;
  std::vector<PromptMessage> results;
  std::int64_t rows = 0;
  std::int64_t tokens = 0;
  bool always = false;  // It is included whatever its size.
};

Group user_group(ContextRow const& row) {
  Group group;
  group.message.speaker = Speaker::user;
  group.message.text = row.content;
  group.rows = 1;
  group.tokens = estimate_tokens(row.content);
  return group;
}

void add_words(Group& group, ContextRow const& row) {
  if (row.content.empty()) return;
  group.message.text = row.content;
  group.rows += 1;
  group.tokens += estimate_tokens(row.content);
}

void add_call(Group& group, ContextRow const& call, ContextRow const& result) {
  group.message.tool_calls.push_back({call.call_id, call.tool, call.content});
  if (group.message.reasoning.empty()) {
    group.message.reasoning = call.reasoning;
    group.tokens += estimate_tokens(call.reasoning);
  }
  PromptMessage answer;
  answer.speaker = Speaker::tool;
  answer.text = result.content;
  answer.tool_call_id = result.call_id;
  group.results.push_back(std::move(answer));
  if (result.is_input) group.always = true;
  group.rows += 2;
  group.tokens +=
      estimate_tokens(call.tool) + estimate_tokens(call.content) + estimate_tokens(result.content);
}

// The answer that begins at row `at`; `at` moves to the row after it. Empty if nothing of it can be shown.
Group answer_group(Rows const& rows, std::vector<std::size_t> const& result_of, std::size_t& at) {
  Group group;
  group.message.speaker = Speaker::assistant;
  if (rows[at].kind == Kind::assistant) add_words(group, rows[at++]);
  for (; at < rows.size() && rows[at].kind == Kind::tool_call; ++at) {
    if (result_of[at] != kNoRow) add_call(group, rows[at], rows[result_of[at]]);
  }
  return group;
}

std::vector<Group> make_groups(Rows const& rows) {
  auto const result_of = find_results(rows);
  std::vector<Group> groups;
  for (std::size_t at = 0; at < rows.size();) {
    switch (rows[at].kind) {
      case Kind::user:
        groups.push_back(user_group(rows[at++]));
        break;
      case Kind::assistant:
      case Kind::tool_call:
        groups.push_back(answer_group(rows, result_of, at));
        break;
      case Kind::tool_result:  // Added with its call.
        ++at;
        break;
    }
  }
  std::erase_if(groups, [](Group const& group) { return group.rows == 0; });
  return groups;
}

class Room {
 public:
  explicit Room(ContextLimits const& limits)
      : rows_{static_cast<std::int64_t>(std::min<std::size_t>(limits.messages, kUnlimited))},
        tokens_{limits.tokens > 0 ? limits.tokens : kUnlimited} {}

  [[nodiscard]] bool fits(Group const& group) const { return group.rows <= rows_ && group.tokens <= tokens_; }
  void take(Group const& group) {
    rows_ -= group.rows;
    tokens_ -= group.tokens;
  }

 private:
  static constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

  std::int64_t rows_;
  std::int64_t tokens_;
};

void append_group(std::vector<PromptMessage>& messages, Group& group) {
  messages.push_back(std::move(group.message));
  std::move(group.results.begin(), group.results.end(), std::back_inserter(messages));
}

bool is_users(Group const& group) {
  return group.message.speaker == Speaker::user;
}

}  // namespace

std::vector<PromptMessage> assemble_context(std::vector<ContextRow> const& rows,
                                            ContextLimits const& limits) {
  auto groups = make_groups(rows);
  auto const newest_user = std::find_if(groups.rbegin(), groups.rend(), is_users);
  if (newest_user != groups.rend()) newest_user->always = true;
  Room room{limits};
  for (auto const& group : groups) {
    if (group.always) room.take(group);
  }
  bool full = false;
  std::vector<Group*> kept;
  for (auto group = groups.rbegin(); group != groups.rend(); ++group) {
    if (group->always) {
      kept.push_back(&*group);
      continue;
    }
    full = full || !room.fits(*group);
    if (full) continue;
    room.take(*group);
    kept.push_back(&*group);
  }

  std::vector<PromptMessage> messages;
  for (auto group = kept.rbegin(); group != kept.rend(); ++group)
    append_group(messages, **group);
  return messages;
}

bool has_user_message(std::vector<PromptMessage> const& context) {
  return std::any_of(context.begin(), context.end(),
                     [](PromptMessage const& message) { return message.speaker == Speaker::user; });
}

void inject_input(std::vector<PromptMessage>& context, std::string const& input) {
  if (!context.empty() && context.back().speaker == Speaker::user) return;
  PromptMessage message;
  message.speaker = Speaker::user;
  message.text = input;
  context.insert(context.begin(), std::move(message));
}

}  // namespace runnel::flow

#include "runnel/model/builtin/offline_contracts.h"

#include <algorithm>
#include <array>
#include <vector>

#include "runnel/core/json/write.h"
#include "runnel/model/builtin/offline_words.h"

namespace runnel::model {
namespace {

constexpr std::size_t kQuotedLength = 24;

// A text in both languages.
struct Words {
  std::string_view english;
  std::string_view chinese;

  [[nodiscard]] std::string in(bool chinese_wanted) const {
    return std::string{chinese_wanted ? chinese : english};
  }
};

// A subject that would need a tool.
struct Topic {
  Words name;
  std::vector<std::string_view> english;  // Whole words, in lower case.
  std::vector<std::string_view> chinese;
};

std::vector<Topic> const& topics() {
  static std::vector<Topic> const all{
      {{"calendar", "日历"},
       {"calendar", "schedule", "meeting", "meetings", "appointment", "appointments", "event", "events",
        "invite", "invitation", "remind", "reminder"},
       {"日历", "日程", "会议", "开会", "约会", "预约", "提醒", "邀请"}},
      {{"contacts", "联系人"},
       {"contact", "contacts", "phone", "email"},
       {"联系人", "通讯录", "电话", "手机号", "邮箱"}},
      {{"memory", "记忆"},
       {"memory", "memories", "remember", "memorize", "forget"},
       {"记忆", "记住", "记得", "记下", "忘记", "忘掉"}},
  };
  return all;
}

// The words that consist of ASCII letters, in lower case.
std::vector<std::string> letters_of(std::string_view text) {
  std::vector<std::string> words(1);
  for (char const c : text) {
    char const lower = static_cast<char>(c | 0x20);
    if (lower >= 'a' && lower <= 'z') {
      words.back() += lower;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  return words;
}

bool speaks_of(Topic const& topic, std::string_view text, std::vector<std::string> const& words) {
  auto const in_text = [&](std::string_view part) { return text.find(part) != std::string_view::npos; };
  return std::any_of(topic.chinese.begin(), topic.chinese.end(), in_text) ||
         std::find_first_of(words.begin(), words.end(), topic.english.begin(), topic.english.end()) !=
             words.end();
}

// Null if the text asks for nothing that would need a tool.
Topic const* find_topic(std::string_view text) {
  auto const words = letters_of(text);
  for (auto const& topic : topics()) {
    if (speaks_of(topic, text, words)) return &topic;
  }
  return nullptr;
}

constexpr Words kNoTools{"I have no tools, so nothing was looked up or changed.",
                         "我没有工具，所以没有查询或更改任何内容。"};

// Writes the answer to one question as the object of each known contract.
class Writer {
 public:
  explicit Writer(OfflineQuestion const& question)
      : question_{question}, chinese_{has_han(question.text)}, topic_{find_topic(question.text)} {}

  [[nodiscard]] std::string router() const {
    std::string out;
    JsonObject object{out};
    object.text("intent_summary", summary()).text("route", "NEEDS_EXECUTION");
    object.text("execution_brief", brief()).raw("safety_flags", "[]").close();
    return out;
  }

  [[nodiscard]] std::string intent() const {
    std::string out;
    JsonObject object{out};
    object.text("route", topic_ != nullptr ? "NEEDS_EXECUTION" : "DIRECT_EXECUTION");
    object.text("intent_summary", summary()).raw("safety_flags", "[]");
    if (topic_ != nullptr) {
      object.text("execution_brief", brief());
    } else {
      object.text("assistant_text", padded(question_.answer, question_.words));
    }
    object.close();
    return out;
  }

  [[nodiscard]] std::string execution() const {
    std::string out;
    JsonObject object{out};
    object.text("status", "PARTIAL").text("execution_summary", kNoTools.in(chinese_));
    object.raw("execution_data", "{}").text("report_brief", say(kReport)).close();
    return out;
  }

  [[nodiscard]] std::string organization() const {
    std::string out;
    JsonObject object{out};
    object.raw("response_metadata", "{}").text("assistant_text", answer_without_tools()).close();
    return out;
  }

  [[nodiscard]] std::string worker() const {
    std::string out;
    JsonObject object{out};
    object.text("status", topic_ != nullptr ? "PARTIAL" : "SUCCESS");
    object.raw("suggested_actions", say(kSuggestions)).raw("key_points", "[]");
    object.text("result_type", topic_ != nullptr ? "execution_report" : "unknown");
    object.text("answer",
                topic_ != nullptr ? answer_without_tools() : padded(question_.answer, question_.words));
    object.close();
    return out;
  }

 private:
  static constexpr Words kReport{"Say that nothing was done, and why.", "说明没有执行任何操作及其原因。"};
  static constexpr Words kSuggestions{
      R"(["Cut the connection and resume","Look at this run's history","Connect a real model"])",
      R"(["断开连接后继续读取","查看这次运行的历史","接入真正的模型"])"};

  [[nodiscard]] std::string say(Words const& words) const { return words.in(chinese_); }

  [[nodiscard]] std::string quoted() const {
    auto const text = shortened(question_.text, kQuotedLength);
    return chinese_ ? "「" + text + "」" : "“" + text + "”";
  }

  [[nodiscard]] std::string summary() const {
    if (topic_ == nullptr) return say({"The user wrote ", "用户说"}) + quoted();
    return say({"A request about the ", "关于"}) + say(topic_->name) + say({": ", "的请求："}) + quoted();
  }

  [[nodiscard]] std::string brief() const {
    if (topic_ == nullptr) return say({"Answer the user.", "回答用户。"});
    return say({"Serve the request about the ", "处理关于"}) + say(topic_->name) + say({".", "的请求。"});
  }

  [[nodiscard]] std::string answer_without_tools() const {
    return padded(question_.answer + say({" ", ""}) + say(kNoTools), question_.words);
  }

  OfflineQuestion const& question_;
  bool chinese_;
  Topic const* topic_;
};

struct KnownContract {
  std::string_view name;
  std::string (Writer::*write)() const;
};
constexpr std::array<KnownContract, 5> kKnownContracts{{{"RouterResult", &Writer::router},
                                                        {"WorkerResult", &Writer::worker},
                                                        {"IntentResult", &Writer::intent},
                                                        {"ExecutionResult", &Writer::execution},
                                                        {"OrganizationResult", &Writer::organization}}};

}  // namespace

std::optional<std::string> offline_object(std::string_view contract, OfflineQuestion const& question) {
  for (auto const& known : kKnownContracts) {
    if (known.name == contract) return (Writer{question}.*known.write)();
  }
  return std::nullopt;
}

}  // namespace runnel::model

#include "runnel/model/builtin/offline_contracts.h"

#include <boost/json/value.hpp>

#include <array>

#include "runnel/core/json/lenient.h"
#include "runnel/core/json/write.h"
#include "runnel/core/text/text.h"
#include "runnel/model/builtin/offline_wording.h"
#include "runnel/model/builtin/offline_words.h"

namespace runnel::model {
namespace {

constexpr std::size_t kQuotedLength = 24;

constexpr Words kCalendar{"calendar", "日历"};
constexpr Words kContacts{"contacts", "联系人"};
constexpr Words kMemory{"memory", "记忆"};

// What the request is about. Null if it needs no tool.
Words const* topic_of(Ask ask) {
  switch (ask) {
    case Ask::nothing:
      return nullptr;
    case Ask::find_contact:
      return &kContacts;
    case Ask::remember:
    case Ask::recall:
      return &kMemory;
    default:
      return &kCalendar;
  }
}

char const* to_string(ReplyStatus status) {
  switch (status) {
    case ReplyStatus::success:
      return "SUCCESS";
    case ReplyStatus::partial:
      return "PARTIAL";
    case ReplyStatus::failed:
      return "FAILED";
  }
  return "FAILED";
}

char const* to_string(ReplyKind kind) {
  switch (kind) {
    case ReplyKind::report:
      return "execution_report";
    case ReplyKind::clarification:
      return "clarification";
    case ReplyKind::error:
      return "error_report";
    case ReplyKind::unknown:
      return "unknown";
  }
  return "unknown";
}

void append_texts(std::string& out, std::vector<std::string> const& texts) {
  append_json_array(out, texts,
                    [](std::string& into, std::string const& text) { append_json_string(into, text); });
}

// What the execution before has found, worded by it.
std::string summary_in(std::string const& result) {
  auto const read = parse_lenient_json(result);
  auto const* const value = std::get_if<boost::json::value>(&read);
  if (value == nullptr || !value->is_object()) return {};
  auto const* const summary = value->get_object().if_contains("execution_summary");
  return summary != nullptr && summary->is_string() ? std::string{summary->get_string()} : std::string{};
}

// Writes one answer as the object of each known contract.
class Writer {
 public:
  explicit Writer(OfflineAnswer const& answer)
      : answer_{answer}, chinese_{answer.request.chinese}, topic_{topic_of(answer.request.ask)} {}

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
    object.text("route", answer_.needs_tool ? "NEEDS_EXECUTION" : "DIRECT_EXECUTION");
    object.text("intent_summary", summary()).raw("safety_flags", "[]");
    if (answer_.needs_tool) {
      object.text("execution_brief", brief());
    } else {
      object.text("assistant_text", shown(answer_.reply.text));
    }
    object.close();
    return out;
  }

  // The summary is what the user is told: the next stage says just that.
  [[nodiscard]] std::string execution() const {
    auto const& reply = answer_.reply;
    bool const nothing_done = topic_ == nullptr;
    std::string out;
    JsonObject object{out};
    object.text("status", nothing_done ? "PARTIAL" : to_string(reply.status));
    object.text("execution_summary", reply.text);
    std::string facts;
    append_texts(facts, reply.key_points);
    JsonObject{object.key("execution_data")}.raw("facts", facts).close();
    if (!reply.error.empty()) object.text("error_message", reply.error);
    object.text("report_brief", say({"Tell the user what the summary says.", "把执行摘要告诉用户。"}))
        .close();
    return out;
  }

  [[nodiscard]] std::string organization() const {
    std::string text;
    for (auto const& result : answer_.results) {
      if (auto found = summary_in(result); !is_blank(found)) text = std::move(found);
    }
    std::string out;
    JsonObject object{out};
    object.raw("response_metadata", "{}");
    object.text("assistant_text", shown(text.empty() ? answer_.reply.text : text)).close();
    return out;
  }

  [[nodiscard]] std::string worker() const {
    auto const& reply = answer_.reply;
    std::string out;
    JsonObject object{out};
    object.text("status", to_string(reply.status));
    append_texts(object.key("suggested_actions"), suggestions(answer_.request.ask, chinese_));
    append_texts(object.key("key_points"), reply.key_points);
    object.text("result_type", to_string(reply.kind));
    if (!reply.error.empty()) object.text("error", reply.error);
    object.text("answer", shown(reply.text)).close();
    return out;
  }

 private:
  [[nodiscard]] std::string say(Words const& words) const { return words.in(chinese_); }
  [[nodiscard]] std::string shown(std::string const& text) const { return padded(text, answer_.words); }

  [[nodiscard]] std::string summary() const {
    auto const quote = quoted(shortened(answer_.text, kQuotedLength), chinese_);
    if (topic_ == nullptr) return say({"The user wrote ", "用户说"}) + quote;
    return say({"A request about the ", "关于"}) + say(*topic_) + say({": ", "的请求："}) + quote;
  }

  [[nodiscard]] std::string brief() const {
    if (topic_ == nullptr) return say({"Answer the user.", "回答用户。"});
    return say({"Serve the request about the ", "处理关于"}) + say(*topic_) + say({".", "的请求。"});
  }

  OfflineAnswer const& answer_;
  bool chinese_;
  Words const* topic_;
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

std::optional<std::string> offline_object(std::string_view contract, OfflineAnswer const& answer) {
  for (auto const& known : kKnownContracts) {
    if (known.name == contract) return (Writer{answer}.*known.write)();
  }
  return std::nullopt;
}

}  // namespace runnel::model

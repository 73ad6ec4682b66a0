#include "runnel/model/builtin/offline.h"

#include <algorithm>
#include <utility>

#include "runnel/base/sleep.h"
#include "runnel/core/json/write.h"
#include "runnel/core/profile.h"
#include "runnel/core/text/text.h"
#include "runnel/model/builtin/offline_contracts.h"
#include "runnel/model/builtin/offline_wording.h"
#include "runnel/model/builtin/offline_words.h"

namespace runnel::model {

namespace asio = boost::asio;

namespace {

constexpr char kTool[] = "project_cli";
constexpr std::size_t kArgumentsAtOnce = 16;  // Characters in a piece of a tool call's arguments.

std::string message_of(CallRequest const& request) {
  if (!request.user_text.empty()) return request.user_text;
  auto const last = std::find_if(request.messages.rbegin(), request.messages.rend(),
                                 [](PromptMessage const& each) { return each.speaker == Speaker::user; });
  return last == request.messages.rend() ? std::string{} : last->text;
}

// Both zones have been looked up before: the default one at the start, and the user's when the prompt was
// made.
Moment moment_of(CallRequest const& request) {
  auto const zone = Zone::find(request.timezone);
  return {request.now_ms, zone ? *zone : Zone::find(Preferences{}.timezone).value()};
}

bool offers_tool(CallRequest const& request) {
  return request.tool_choice != ToolChoice::none &&
         std::any_of(request.tools.begin(), request.tools.end(),
                     [](ToolSpec const& tool) { return tool.name == kTool; });
}

ToolCall to_tool_call(NextCall const& next, std::size_t number) {
  std::string arguments;
  JsonObject{arguments}
      .text("module", next.module)
      .text("method", next.method)
      .raw("input", next.input)
      .text("intent", next.intent)
      .close();
  return {"offline_" + std::to_string(number), kTool, std::move(arguments)};
}

// In a stage without tools. Where a text must stand, it also says what the model is.
Reply reply_without_tools(std::string const& message, bool chinese) {
  Reply reply;
  reply.status = ReplyStatus::partial;
  reply.text = self_words(message, chinese) + (chinese ? "" : " ") + no_tools_words(chinese);
  return reply;
}

std::vector<CallEvent> pieces_of(std::string const& text) {
  std::vector<CallEvent> pieces;
  for (auto& word : split_words(text))
    pieces.emplace_back(TextPiece{std::move(word)});
  return pieces;
}

std::vector<CallEvent> pieces_of(ToolCall const& call) {
  std::vector<CallEvent> pieces;
  pieces.emplace_back(ToolCallPiece{0, call.id, call.name, {}});
  for (std::string_view rest = call.arguments; !rest.empty();) {
    auto const piece = first_code_points(rest, kArgumentsAtOnce);
    pieces.emplace_back(ToolCallPiece{0, {}, {}, std::string{piece}});
    rest.remove_prefix(piece.size());
  }
  return pieces;
}

std::int64_t tokens_of(CallEvent const& event) {
  if (auto const* const text = std::get_if<TextPiece>(&event)) return count_offline_tokens(text->text);
  auto const* const call = std::get_if<ToolCallPiece>(&event);
  return call != nullptr ? count_offline_tokens(call->name + call->arguments) : 0;
}

class OfflineCall final : public Call {
 public:
  OfflineCall(OfflineOutput const& output, std::int64_t input_tokens, std::chrono::microseconds delay)
      : pieces_{std::visit([](auto const& what) { return pieces_of(what); }, output)},
        input_tokens_{input_tokens},
        delay_{delay} {
    if (auto const* const call = std::get_if<ToolCall>(&output)) calls_.push_back(*call);
  }

  asio::awaitable<Result<std::vector<CallEvent>>> next(std::shared_ptr<base::Cancel> cancel) override {
    bool const undisturbed = co_await base::sleep_for(delay_, cancel);
    if (!undisturbed) co_return Error{Errc::canceled, "offline call canceled"};
    co_return take_events();
  }

 private:
  std::vector<CallEvent> take_events() {
    std::vector<CallEvent> events;
    if (at_ < pieces_.size()) {
      output_tokens_ += tokens_of(pieces_[at_]);
      events.push_back(std::move(pieces_[at_++]));
    }
    if (at_ == pieces_.size()) events.emplace_back(end());
    return events;
  }

  [[nodiscard]] CallFinished end() const {
    auto finished = counted_end(input_tokens_, output_tokens_);
    if (!calls_.empty()) finished.finish = Finish::tool_calls;
    finished.tool_calls = calls_;
    return finished;
  }

  std::vector<CallEvent> pieces_;
  std::vector<ToolCall> calls_;
  std::size_t at_ = 0;
  std::int64_t input_tokens_;
  std::int64_t output_tokens_ = 0;
  std::chrono::microseconds delay_;
};

}  // namespace

OfflineOutput offline_output(CallRequest const& request, OfflineOptions const& options) {
  auto const moment = moment_of(request);
  OfflineAnswer answer;
  answer.text = message_of(request);
  answer.request = understand(request.user_text, moment);
  answer.request.chinese = has_han(answer.text);
  answer.results = request.earlier_results;
  answer.words = options.words;
  auto const results = read_results(request.messages, request.opening_messages);
  auto step = plan(answer.request, answer.text, moment, results);
  auto const* const next = std::get_if<NextCall>(&step);
  answer.needs_tool = next != nullptr;
  if (next != nullptr && offers_tool(request)) return to_tool_call(*next, results.size() + 1);
  answer.reply = next != nullptr ? reply_without_tools(answer.text, answer.request.chinese)
                                 : std::get<Reply>(std::move(step));
  auto object = offline_object(request.contract, answer);
  return object ? std::move(*object) : padded(answer.reply.text, options.words);
}

std::int64_t count_offline_tokens(std::string const& text) {
  return static_cast<std::int64_t>(count_words(text));
}

CallFinished counted_end(std::int64_t input_tokens, std::int64_t output_tokens) {
  CallFinished finished;
  auto& usage = finished.usage;
  usage.input_tokens = input_tokens;
  usage.output_tokens = output_tokens;
  usage.total_tokens = input_tokens + output_tokens;
  usage.cached_tokens = 0;
  usage.reasoning_tokens = 0;
  usage.cache_hit_tokens = 0;
  usage.cache_miss_tokens = input_tokens;
  return finished;
}

std::unique_ptr<Call> OfflineProvider::call(CallRequest request) {
  std::int64_t input_tokens = 0;
  for (auto const& message : request.messages)
    input_tokens += count_offline_tokens(message.text);
  return std::make_unique<OfflineCall>(offline_output(request, options_), input_tokens, options_.word_delay);
}

}  // namespace runnel::model

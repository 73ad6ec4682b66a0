#include "runnel/model/builtin/offline.h"

#include <algorithm>
#include <utility>

#include "runnel/base/sleep.h"
#include "runnel/core/text/text.h"
#include "runnel/model/builtin/offline_contracts.h"
#include "runnel/model/builtin/offline_words.h"

namespace runnel::model {

namespace asio = boost::asio;

namespace {

std::string answer_text(std::string const& message) {
  auto const quoted = shortened(message, 80);
  auto const length = std::to_string(count_code_points(message));
  if (has_han(message)) {
    return "你好！我是 Runnel "
           "内置的离线模型：一个按规则回答的小程序，不是大语言模型，也不会访问网络。你说的是「" +
           quoted + "」（" + length +
           " 个字符）。这次运行已经写入日志：断线、重启之后都可以从中断处继续读取。";
  }
  return "Hello! I am Runnel's built-in offline model: a small program that answers by rules, not a language "
         "model, and "
         "I use no network. You wrote “" +
         quoted + "” (" + length +
         " characters). This run is in the log already: cut the connection or restart the server, and you "
         "can resume "
         "reading where you left off.";
}

std::string message_of(CallRequest const& request) {
  if (!request.user_text.empty()) return request.user_text;
  auto const last = std::find_if(request.messages.rbegin(), request.messages.rend(),
                                 [](PromptMessage const& each) { return each.speaker == Speaker::user; });
  return last == request.messages.rend() ? std::string{} : last->text;
}

class OfflineCall final : public Call {
 public:
  OfflineCall(std::vector<std::string> pieces, std::int64_t input_tokens, std::chrono::microseconds delay)
      : pieces_{std::move(pieces)}, input_tokens_{input_tokens}, delay_{delay} {}

  asio::awaitable<Result<std::vector<CallEvent>>> next(std::shared_ptr<base::Cancel> cancel) override {
    bool const undisturbed = co_await base::sleep_for(delay_, cancel);
    if (!undisturbed) co_return Error{Errc::canceled, "offline call canceled"};
    std::vector<CallEvent> events;
    if (at_ < pieces_.size()) {
      output_tokens_ += count_offline_tokens(pieces_[at_]);
      events.emplace_back(TextPiece{std::move(pieces_[at_++])});
    }
    if (at_ == pieces_.size()) events.emplace_back(counted_end(input_tokens_, output_tokens_));
    co_return events;
  }

 private:
  std::vector<std::string> pieces_;
  std::size_t at_ = 0;
  std::int64_t input_tokens_;
  std::int64_t output_tokens_ = 0;
  std::chrono::microseconds delay_;
};

}  // namespace

std::vector<std::string> offline_answer(std::string const& message, OfflineOptions const& options) {
  return split_words(padded(answer_text(message), options.words));
}

std::vector<std::string> offline_output(CallRequest const& request, OfflineOptions const& options) {
  auto const message = message_of(request);
  OfflineQuestion question{message, answer_text(message), options.words};
  auto const object = offline_object(request.contract, question);
  return object ? split_words(*object) : offline_answer(message, options);
}

std::int64_t count_offline_tokens(std::string const& text) {
  return static_cast<std::int64_t>(split_words(text).size());
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

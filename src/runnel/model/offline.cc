#include "runnel/model/offline.h"

#include <utility>

#include "runnel/base/sleep.h"
#include "runnel/core/text.h"

namespace runnel::model {

namespace asio = boost::asio;

namespace {

bool is_han(std::string_view sequence) {
  return sequence.size() == 3 && sequence >= "\u4e00" && sequence <= "\u9fff";
}

bool is_wide(std::string_view sequence) {
  return sequence.size() >= 3;
}

bool has_han(std::string const& text) {
  for (std::size_t at = 0; at < text.size();) {
    auto const length = std::max<std::size_t>(utf8_sequence(text, at), 1);
    if (is_han(std::string_view{text}.substr(at, length))) return true;
    at += length;
  }
  return false;
}

// The first `limit` code points, with an ellipsis where there are more.
std::string shorten(std::string const& text, std::size_t limit) {
  std::size_t at = 0;
  for (std::size_t count = 0; at < text.size(); ++count) {
    if (count == limit) return text.substr(0, at) + "…";
    at += std::max<std::size_t>(utf8_sequence(text, at), 1);
  }
  return text;
}

// A word with the space before it, or one wide character: what joins back to the text.
std::vector<std::string> split_words(std::string const& text) {
  std::vector<std::string> words;
  std::string word;
  bool word_has_letters = false;
  auto const finish = [&] {
    if (!word.empty()) words.push_back(std::exchange(word, {}));
    word_has_letters = false;
  };
  for (std::size_t at = 0; at < text.size();) {
    auto const length = std::max<std::size_t>(utf8_sequence(text, at), 1);
    auto const sequence = text.substr(at, length);
    bool const space = sequence == " " || sequence == "\n";
    if (is_wide(sequence) || (space && word_has_letters)) finish();
    word += sequence;
    if (!space) word_has_letters = true;
    if (is_wide(sequence)) finish();
    at += length;
  }
  finish();
  return words;
}

std::string answer_text(std::string const& message) {
  auto const quoted = shorten(message, 80);
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
  auto pieces = split_words(answer_text(message));
  for (auto n = pieces.size() + 1; n <= options.words; ++n)
    pieces.push_back(" " + std::to_string(n));
  return pieces;
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
  auto const& last = request.messages.empty() ? std::string{} : request.messages.back().text;
  return std::make_unique<OfflineCall>(offline_answer(last, options_), input_tokens, options_.word_delay);
}

}  // namespace runnel::model

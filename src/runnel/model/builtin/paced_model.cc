#include "runnel/model/builtin/paced_model.h"

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "runnel/base/sleep.h"
#include "runnel/model/builtin/offline.h"

namespace runnel::model {

namespace asio = boost::asio;
using std::chrono::microseconds;
using SteadyClock = std::chrono::steady_clock;  // CLOCK_MONOTONIC.

namespace {

constexpr std::int64_t kMaxTokens = 1'000'000;
constexpr std::int64_t kMaxBurst = 10'000;
constexpr std::int64_t kMaxWait = 3'600'000'000;  // One hour in µs.
constexpr std::int64_t kUndelayedBurst = 64;
constexpr std::string_view kPrefix = "tok-";

// The whole numbers between the dashes. Empty if there is anything else, or more than four numbers.
std::optional<std::vector<std::int64_t>> split_numbers(std::string_view text) {
  std::vector<std::int64_t> numbers;
  for (;;) {
    auto const part = text.substr(0, text.find('-'));
    std::int64_t number = 0;
    auto const* const end = part.data() + part.size();
    auto const [stopped, error] = std::from_chars(part.data(), end, number);
    if (error != std::errc{} || stopped != end || numbers.size() == 4) return std::nullopt;
    numbers.push_back(number);
    if (part.size() == text.size()) return numbers;
    text.remove_prefix(part.size() + 1);
  }
}

std::string stamp() {
  auto now = static_cast<std::uint64_t>(SteadyClock::now().time_since_epoch() / std::chrono::nanoseconds{1});
  std::string text = "@00000000000000~";
  for (std::size_t digit = 14; digit > 0; --digit, now >>= 4U)
    text[digit] = "0123456789abcdef"[now & 0xFU];
  return text;
}

// What is written around the tokens if the answer is the JSON of a contract (FLOW-4): the tokens are its text
// field, which comes last. Empty if the contract is unknown.
struct Frame {
  std::string_view contract;
  std::string_view before;
  std::string_view after;
};
constexpr std::array<Frame, 5> kFrames{{
    {"RouterResult",
     R"({"route":"NEEDS_EXECUTION","intent_summary":"test","safety_flags":[],"execution_brief":")", R"("})"},
    {"WorkerResult",
     R"({"status":"SUCCESS","suggested_actions":[],"key_points":[],"result_type":"unknown","answer":")",
     R"("})"},
    {"IntentResult",
     R"({"route":"DIRECT_EXECUTION","intent_summary":"test","safety_flags":[],"assistant_text":")", R"("})"},
    {"ExecutionResult",
     R"({"status":"SUCCESS","execution_summary":"test","execution_data":{},"report_brief":")", R"("})"},
    {"OrganizationResult", R"({"response_metadata":{},"assistant_text":")", R"("})"},
}};

Frame frame_of(std::string_view contract) {
  auto const* const found = std::find_if(kFrames.begin(), kFrames.end(),
                                         [&](Frame const& frame) { return frame.contract == contract; });
  return found == kFrames.end() ? Frame{} : *found;
}

class TestModelCall final : public Call {
 public:
  TestModelCall(PacedScript script, Frame frame, std::int64_t input_tokens)
      : script_{script},
        before_{frame.before},
        after_{frame.after},
        input_tokens_{input_tokens},
        due_{SteadyClock::now() +
             (script.before_first > microseconds{0} ? script.before_first : script.apart)} {}

  asio::awaitable<Result<std::vector<CallEvent>>> next(std::shared_ptr<base::Cancel> cancel) override {
    auto const wait = std::chrono::ceil<microseconds>(due_ - SteadyClock::now());
    if (wait > microseconds{0}) {
      co_await base::sleep_for(wait, cancel);
    } else {
      co_await asio::post(co_await asio::this_coro::executor, asio::use_awaitable);
    }
    if (cancel->requested()) co_return Error{Errc::canceled, "test call canceled"};
    co_return output_tokens_ < script_.tokens ? make_burst() : make_end();
  }

 private:
  std::vector<CallEvent> make_burst() {
    auto const size = std::min(script_.burst, script_.tokens - output_tokens_);
    std::vector<CallEvent> events;
    events.reserve(static_cast<std::size_t>(size));
    for (std::int64_t i = 0; i < size; ++i)
      events.emplace_back(TextPiece{std::exchange(before_, {}) + stamp()});
    output_tokens_ += size;
    due_ += script_.apart * size;
    return events;
  }

  std::vector<CallEvent> make_end() {
    std::vector<CallEvent> events;
    auto rest = before_ + after_;
    if (!rest.empty()) events.emplace_back(TextPiece{std::move(rest)});
    events.emplace_back(counted_end(input_tokens_, output_tokens_));
    return events;
  }

  PacedScript const script_;
  std::string before_;  // Empty once it is sent.
  std::string const after_;
  std::int64_t const input_tokens_;
  std::int64_t output_tokens_ = 0;
  SteadyClock::time_point due_;  // When the next burst, or the end, should come.
};

std::int64_t count_input_tokens(CallRequest const& request) {
  std::int64_t count = 0;
  for (auto const& message : request.messages)
    count += count_offline_tokens(message.text);
  return count;
}

}  // namespace

std::optional<PacedScript> parse_paced_model(std::string_view name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  auto numbers = split_numbers(name.substr(kPrefix.size()));
  if (!numbers || numbers->size() < 2) return std::nullopt;
  numbers->resize(4);
  constexpr std::array<std::int64_t, 4> kHighest{kMaxTokens, kMaxWait, kMaxBurst, kMaxWait};
  for (std::size_t i = 0; i < kHighest.size(); ++i) {
    if ((*numbers)[i] < 0 || (*numbers)[i] > kHighest[i]) return std::nullopt;
  }
  PacedScript script;
  script.tokens = (*numbers)[0];
  script.apart = microseconds{(*numbers)[1]};
  script.burst = (*numbers)[2];
  if (script.burst == 0) script.burst = script.apart == microseconds{0} ? kUndelayedBurst : 1;
  script.before_first = microseconds{(*numbers)[3]};
  return script;
}

std::unique_ptr<Call> PacedModelProvider::call(CallRequest request) {
  return std::make_unique<TestModelCall>(parse_paced_model(request.model).value_or(PacedScript{}),
                                         frame_of(request.contract), count_input_tokens(request));
}

}  // namespace runnel::model

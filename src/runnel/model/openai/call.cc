#include "runnel/model/openai/call.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "runnel/model/failures.h"
#include "runnel/model/openai/chat_request.h"

namespace runnel::model {

namespace asio = boost::asio;
using std::chrono::milliseconds;

namespace {

// After the model has stopped, usage may still come. A server that never ends its answer must not hold up a
// run.
constexpr milliseconds kAfterFinish{5'000};
// After `[DONE]`, reading to the end of the body makes the connection reusable; it is not worth a longer
// wait.
constexpr milliseconds kDrain{100};
constexpr milliseconds kErrorBody{10'000};
constexpr std::size_t kMaxErrorBody = std::size_t{64} * 1024;

std::string completions_url(std::string_view base) {
  while (base.ends_with('/'))
    base.remove_suffix(1);
  return std::string{base} + "/chat/completions";
}

net::HttpRequest make_request(CallRequest const& request, ProviderOptions const& options) {
  net::HttpRequest out;
  out.url = completions_url(options.base_url);
  out.headers.emplace_back("content-type", "application/json");
  out.headers.emplace_back("accept", "text/event-stream");
  out.headers.emplace_back("user-agent", "runnel/" RUNNEL_VERSION);
  if (!options.api_key.empty())
    out.headers.emplace_back("authorization", "Bearer " + options.api_key.reveal());
  out.body = write_chat_request(request, options);
  out.connect_timeout = options.timeouts.connect;
  out.http2 = options.http2;
  return out;
}

net::HttpError timed_out() {
  net::HttpError error;
  error.kind = net::HttpError::Kind::timed_out;
  return error;
}

bool is_success(net::HttpHead const& head) {
  return head.status >= 200 && head.status < 300;
}

bool is_page(net::HttpHead const& head) {
  return head.header("content-type").value_or("").starts_with("text/html");
}

}  // namespace

CallTimers::CallTimers(CallTimeouts const& timeouts, net::Deadline now)
    : timeouts_{timeouts}, total_by_{now + timeouts.total}, payload_by_{now + timeouts.first_payload} {}

void CallTimers::payload_came(net::Deadline now) {
  payload_by_ = now + timeouts_.idle_payload;
  had_payload_ = true;
}

void CallTimers::answer_finished(net::Deadline now) {
  if (!finish_by_) finish_by_ = now + kAfterFinish;
}

void CallTimers::postpone(std::chrono::steady_clock::duration time) {
  total_by_ += time;
  payload_by_ += time;
  if (bytes_by_) *bytes_by_ += time;
  if (finish_by_) *finish_by_ += time;
}

CallTimers::Due CallTimers::next() const {
  Due due{total_by_, "the end of the answer"};
  auto const consider = [&due](net::Deadline at, char const* what) {
    if (at < due.at) due = Due{at, what};
  };
  consider(payload_by_, had_payload_ ? "the next event" : "the first event");
  if (bytes_by_ && had_payload_) consider(*bytes_by_, "any byte");
  if (finish_by_) consider(*finish_by_, "the end of the stream");
  return due;
}

OpenAiCall::OpenAiCall(std::shared_ptr<ProviderOptions const> options, CallRequest const& request,
                       Post const& post, SteadyNow now)
    : options_{std::move(options)},
      now_{std::move(now)},
      answer_{options_},
      timers_{options_->timeouts, now_()},
      exchange_{post(make_request(request, *options_))} {}

asio::awaitable<Result<std::vector<CallEvent>>> OpenAiCall::next(std::shared_ptr<base::Cancel> cancel) {
  if (!has_head_) {
    auto const step = co_await take_head(cancel);
    if (step == Step::canceled) co_return Error{Errc::canceled, "model call canceled"};
  }
  while (events_.empty() && !answer_.is_over() && !body_ended_) {
    auto const step = co_await read_more(cancel);
    if (step == Step::canceled) co_return Error{Errc::canceled, "model call canceled"};
  }
  // Pieces do not wait for the end of the body.
  if (events_.empty()) {
    if (!body_ended_ && !answer_.has_failed()) co_await drain(cancel);
    exchange_.reset();
    answer_.end(events_);
  }
  co_return std::exchange(events_, {});
}

asio::awaitable<OpenAiCall::Step> OpenAiCall::take_head(std::shared_ptr<base::Cancel> cancel) {
  auto const due = timers_.next();
  auto head = co_await exchange_->head(due.at, cancel);
  has_head_ = true;
  if (head.has_error()) {
    if (head.error().kind == net::HttpError::Kind::canceled) co_return Step::canceled;
    take_error(head.error(), due.what);
    co_return Step::go_on;
  }
  timers_.bytes_came(now_());
  if (!is_success(*head)) {
    co_await take_refusal(std::move(*head), cancel);
    co_return cancel->requested() ? Step::canceled : Step::go_on;
  }
  if (is_page(*head)) {
    answer_.fail(make_failure(Failure::bad_answer, "an HTML page instead of a stream"));
  } else {
    answer_.accept();
  }
  co_return Step::go_on;
}

asio::awaitable<OpenAiCall::Step> OpenAiCall::read_more(std::shared_ptr<base::Cancel> cancel) {
  auto const due = timers_.next();
  if (now_() >= due.at) {  // In a flood of comments, `read` never waits.
    take_error(timed_out(), due.what);
    co_return Step::go_on;
  }
  auto const bytes = co_await exchange_->read(due.at, cancel);
  if (bytes.has_error()) {
    if (bytes.error().kind == net::HttpError::Kind::canceled) co_return Step::canceled;
    take_error(bytes.error(), due.what);
  } else {
    take_bytes(*bytes);
  }
  co_return Step::go_on;
}

asio::awaitable<void> OpenAiCall::take_refusal(net::HttpHead head, std::shared_ptr<base::Cancel> cancel) {
  auto const by = std::min(now_() + kErrorBody, timers_.next().at);
  std::string body;
  while (body.size() < kMaxErrorBody) {
    auto const bytes = co_await exchange_->read(by, cancel);
    body_ended_ = bytes.has_error() || bytes->empty();
    if (body_ended_) break;
    body += *bytes;
  }
  body_ended_ = true;
  body.resize(std::min(body.size(), kMaxErrorBody));
  answer_.fail(read_refusal(head, body, options_->vendor, Redactor{options_->api_key},
                            std::chrono::system_clock::now()));
}

asio::awaitable<void> OpenAiCall::drain(std::shared_ptr<base::Cancel> cancel) {
  auto const by = now_() + kDrain;
  while (!body_ended_ && now_() < by) {
    auto const bytes = co_await exchange_->read(by, cancel);
    body_ended_ = bytes.has_error() || bytes->empty();
  }
}

void OpenAiCall::take_bytes(std::string const& bytes) {
  if (bytes.empty()) {
    body_ended_ = true;
    answer_.finish(events_);
    return;
  }
  auto const now = now_();
  auto const before = answer_.payloads();
  answer_.feed(bytes, events_);
  timers_.bytes_came(now);
  if (answer_.payloads() > before) timers_.payload_came(now);
  if (answer_.has_finish()) timers_.answer_finished(now);
}

// Once the model has said why it stopped, the answer is complete, however the stream ends.
void OpenAiCall::take_error(net::HttpError const& error, char const* waited_for) {
  body_ended_ = true;
  if (!answer_.has_finish()) answer_.fail(read_broken(error, waited_for, Redactor{options_->api_key}));
}

}  // namespace runnel::model

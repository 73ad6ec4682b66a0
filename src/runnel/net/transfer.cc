#include "runnel/net/transfer.h"

#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

#include "runnel/net/curl_error.h"

namespace runnel::net {

namespace asio = boost::asio;

namespace {

constexpr std::size_t kMaxHeadBytes = std::size_t{64} * 1024;
// How many bytes may wait to be read. While libcurl is paused, it holds one read of its own (16 KiB) as well.
constexpr std::size_t kMaxBodyBytes = std::size_t{256} * 1024;

// 0 if the line is not a status line.
int status_of(std::string_view line) {
  auto const space = line.find(' ');
  if (!line.starts_with("HTTP/") || space == std::string_view::npos) return 0;
  int status = 0;
  std::from_chars(line.data() + space + 1, line.data() + line.size(), status);
  return status;
}

bool is_interim(int status) {
  return status < 200 && status != 101;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  auto const begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

// Requests to this machine must not leave it. Without this check libcurl would send them to a proxy.
bool is_this_machine(std::string_view url) {
  auto const scheme = url.find("://");
  if (scheme == std::string_view::npos) return false;
  auto host = url.substr(scheme + 3);
  if (host.starts_with("[::1]")) return true;
  host = host.substr(0, host.find_first_of(":/"));
  return host == "localhost" ||
         (host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string_view::npos);
}

std::string lower_case(std::string_view text) {
  std::string out{text};
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return out;
}

}  // namespace

Transfer::Transfer(std::shared_ptr<CurlLoop> loop, HttpRequest request)
    : loop_{std::move(loop)}, request_{std::move(request)}, timer_{loop_->context()} {}

// --- The request ---

void Transfer::begin() {
  header_list_ = make_header_list(request_.headers);
  if (!header_list_) return fail(HttpError::Kind::unreachable, "a request header holds a line break");
  easy_ = loop_->take_handle();
  set_request(easy_.get());
  set_callbacks(easy_.get());
  if (loop_->add(*this, easy_.get())) return;
  fail(HttpError::Kind::unreachable, "libcurl did not accept the transfer");
}

void Transfer::set_request(CURL* easy) {
  curl_easy_setopt(easy, CURLOPT_URL, request_.url.c_str());
  curl_easy_setopt(easy, CURLOPT_NOPROXY, is_this_machine(request_.url) ? "*" : nullptr);
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, header_list_.get());
  curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request_.body.size()));
  curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request_.body.data());
  auto const connect_timeout = std::max<long>(static_cast<long>(request_.connect_timeout.count()), 1);
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, connect_timeout);
  auto const version = request_.http2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1;
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(version));
}

void Transfer::set_callbacks(CURL* easy) {
  curl_easy_setopt(easy, CURLOPT_PRIVATE, this);
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, error_text_.data());
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, &Transfer::on_header);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, this);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &Transfer::on_body);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, this);
}

// --- The answer, as libcurl delivers it ---

std::size_t Transfer::on_header(char* bytes, std::size_t size, std::size_t count, void* transfer) {
  auto& self = *static_cast<Transfer*>(transfer);
  return self.take_header_line({bytes, size * count}) ? size * count : 0;
}

std::size_t Transfer::on_body(char* bytes, std::size_t size, std::size_t count, void* transfer) {
  auto& self = *static_cast<Transfer*>(transfer);
  return self.take_body_bytes({bytes, size * count}) ? size * count : CURL_WRITEFUNC_PAUSE;
}

// This is also called for the heads of interim answers, and for trailers after the body.
bool Transfer::take_header_line(std::string_view line) {
  if (head_is_whole_) return true;
  head_bytes_ += line.size();
  if (head_bytes_ > kMaxHeadBytes) return false;
  if (auto const status = status_of(line); status != 0) {
    head_ = {};
    head_.status = status;
  } else if (!trimmed(line).empty()) {
    take_field(line);
  } else if (!is_interim(head_.status)) {
    head_is_whole_ = true;
    note_news();
  }
  return true;
}

void Transfer::take_field(std::string_view line) {
  bool const goes_on = line.front() == ' ' || line.front() == '\t';
  if (goes_on && !head_.headers.empty()) {
    head_.headers.back().second.append(" ").append(trimmed(line));
    return;
  }
  auto const colon = line.find(':');
  if (colon == std::string_view::npos) return;
  head_.headers.emplace_back(lower_case(trimmed(line.substr(0, colon))), trimmed(line.substr(colon + 1)));
}

bool Transfer::take_body_bytes(std::string_view bytes) {
  if (!body_.empty() && body_.size() + bytes.size() > kMaxBodyBytes) {
    paused_ = true;
    return false;
  }
  // A read from the socket often brings as many bytes as the one before, in many pieces.
  if (body_.empty()) body_.reserve(std::max(bytes.size(), last_read_bytes_));
  body_.append(bytes);
  note_news();
  return true;
}

// --- The end ---

void Transfer::end(CURLcode outcome) {
  ended_ = true;
  if (outcome != CURLE_OK) {
    failure_ = to_error(easy_.get(), outcome, error_text_.data());
  } else if (!head_is_whole_) {
    failure_.emplace(HttpError::Kind::malformed, "the answer has no complete head");
  }
  release();
  note_news();
}

void Transfer::fail(HttpError::Kind kind, std::string detail) {
  if (ended_) return;
  ended_ = true;
  failure_.emplace(kind, std::move(detail));
  head_is_whole_ = false;
  body_.clear();
  release();
  if (!waiter_) return;
  auto waiter = std::move(*waiter_);
  waiter_.reset();
  auto const executor = waiter.get_executor();
  asio::post(executor, std::move(waiter));
}

void Transfer::release() {
  timer_.cancel();
  if (easy_) loop_->remove(*this, std::move(easy_));
}

// --- The waiting coroutine ---

bool Transfer::has_come() const {
  return ended_ || (awaited_ == Awaited::head ? head_is_whole_ : !body_.empty());
}

void Transfer::note_news() {
  if (!waiter_ || has_news_ || !has_come()) return;
  has_news_ = true;
  loop_->note_news(shared_from_this());
}

void Transfer::tell_news() {
  has_news_ = false;
  if (!waiter_) return;
  auto waiter = std::move(*waiter_);
  waiter_.reset();
  auto const executor = waiter.get_executor();
  // On the core itself the waiter can be called directly. A strand must know what runs on it, so it needs
  // dispatch.
  if (executor.target<asio::io_context::executor_type>() != nullptr) {
    std::move(waiter)();
  } else {
    asio::dispatch(executor, std::move(waiter));
  }
}

asio::awaitable<void> Transfer::wait(Awaited awaited, Deadline deadline) {
  awaited_ = awaited;
  deadline_ = deadline;
  if (!armed_ || *armed_ > deadline) arm(deadline);
  return asio::async_initiate<asio::use_awaitable_t<> const, void()>(
      [](Waiter waiter, Transfer* self) { self->waiter_.emplace(std::move(waiter)); }, asio::use_awaitable,
      this);
}

// The timer is not moved when a later deadline replaces the one that it is armed for: when it fires, it
// checks the current deadline. So a stream that is read piece by piece sets the timer only once in a while.
void Transfer::arm(Deadline deadline) {
  armed_ = deadline;
  timer_.expires_at(deadline);
  timer_.async_wait([weak = weak_from_this()](boost::system::error_code error) {
    auto const self = weak.lock();
    if (!error && self) self->check_deadline();
  });
}

void Transfer::check_deadline() {
  armed_.reset();
  if (!waiter_ || has_news_) return;
  if (deadline_ > Deadline::clock::now()) return arm(deadline_);
  fail(HttpError::Kind::timed_out,
       head_is_whole_ ? "the deadline passed during the body" : "the deadline passed before the head");
}

bool Transfer::stop_with(std::shared_ptr<base::Cancel> cancel) {
  if (cancel != cancel_) {
    stop_.reset();
    cancel_ = std::move(cancel);
    stop_.emplace(*cancel_, [weak = weak_from_this()] {
      if (auto const self = weak.lock()) self->fail(HttpError::Kind::canceled, "the stop was requested");
    });
  }
  if (!cancel_->requested()) return false;
  fail(HttpError::Kind::canceled, "the stop was requested");
  return true;
}

// libcurl delivers the bytes that it held back before this call returns.
void Transfer::go_on() {
  if (easy_ && curl_easy_pause(easy_.get(), CURLPAUSE_CONT) != CURLE_OK)
    fail(HttpError::Kind::cut, "libcurl could not resume the transfer");
}

HttpResult<HttpHead> Transfer::take_head() {
  if (head_is_whole_) return std::move(head_);
  return *failure_;
}

HttpResult<std::string> Transfer::take_body() {
  if (body_.empty()) {
    if (failure_) return *failure_;
    return std::string{};
  }
  auto piece = std::exchange(body_, {});
  last_read_bytes_ = piece.size();
  if (std::exchange(paused_, false)) go_on();
  return piece;
}

asio::awaitable<HttpResult<HttpHead>> Transfer::head(std::shared_ptr<Transfer> self, Deadline deadline,
                                                     std::shared_ptr<base::Cancel> cancel) {
  bool const stopped = self->stop_with(std::move(cancel));
  if (!stopped && !self->head_is_whole_ && !self->ended_) co_await self->wait(Awaited::head, deadline);
  co_return self->take_head();
}

asio::awaitable<HttpResult<std::string>> Transfer::read(std::shared_ptr<Transfer> self, Deadline deadline,
                                                        std::shared_ptr<base::Cancel> cancel) {
  bool const stopped = self->stop_with(std::move(cancel));
  if (!stopped && self->body_.empty() && !self->ended_) co_await self->wait(Awaited::body, deadline);
  co_return self->take_body();
}

}  // namespace runnel::net

#include "runnel/net/curl_loop.h"

#include <boost/asio/post.hpp>

#include <chrono>
#include <new>
#include <utility>

#include "runnel/net/socket_watch.h"
#include "runnel/net/transfer.h"

namespace runnel::net {

namespace asio = boost::asio;

namespace {

// A spare handle keeps neither secrets nor pointers into objects that will be destroyed.
void forget_request(CURL* easy) {
  curl_easy_setopt(easy, CURLOPT_URL, nullptr);
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, nullptr);
  curl_easy_setopt(easy, CURLOPT_POSTFIELDS, nullptr);
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, nullptr);
  curl_easy_setopt(easy, CURLOPT_PRIVATE, nullptr);
}

}  // namespace

CurlLoop::CurlLoop(asio::io_context& context, HttpClient::Options options)
    : context_{context}, options_{std::move(options)}, timer_{context} {
  spare_.push_back(make_easy_handle(options_.ca_file));  // Also starts the library.
  multi_.reset(curl_multi_init());
  if (!multi_) throw std::bad_alloc{};
  curl_multi_setopt(multi_.get(), CURLMOPT_SOCKETFUNCTION, &CurlLoop::on_socket);
  curl_multi_setopt(multi_.get(), CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi_.get(), CURLMOPT_TIMERFUNCTION, &CurlLoop::on_timer);
  curl_multi_setopt(multi_.get(), CURLMOPT_TIMERDATA, this);
  keep_connections();
}

CurlLoop::~CurlLoop() {
  close();
}

void CurlLoop::close() {
  auto const open = std::exchange(transfers_, {});
  for (auto* const transfer : open)
    transfer->fail(HttpError::Kind::canceled, "the HTTP client was destroyed");
  multi_.reset();
  while (!watches_.empty())
    unwatch(watches_.begin()->first);
  timer_.cancel();
}

// --- Transfers ---

EasyHandle CurlLoop::take_handle() {
  if (spare_.empty()) return make_easy_handle(options_.ca_file);
  auto handle = std::move(spare_.back());
  spare_.pop_back();
  return handle;
}

bool CurlLoop::add(Transfer& transfer, CURL* easy) {
  if (curl_multi_add_handle(multi_.get(), easy) != CURLM_OK) return false;
  transfers_.insert(&transfer);
  keep_connections();
  return true;
}

void CurlLoop::remove(Transfer& transfer, EasyHandle easy) {
  curl_multi_remove_handle(multi_.get(), easy.get());
  forget_request(easy.get());
  transfers_.erase(&transfer);
  keep_connections();
  if (spare_.size() < options_.max_idle_connections) spare_.push_back(std::move(easy));
}

// libcurl's limit also counts the connections in use.
void CurlLoop::keep_connections() {
  auto const limit = transfers_.size() + options_.max_idle_connections;
  curl_multi_setopt(multi_.get(), CURLMOPT_MAXCONNECTS, static_cast<long>(limit));
}

void CurlLoop::act(curl_socket_t socket, int bits) {
  int running = 0;
  curl_multi_socket_action(multi_.get(), socket, bits, &running);
  take_ended();
}

void CurlLoop::take_ended() {
  int left = 0;
  while (auto const* const message = curl_multi_info_read(multi_.get(), &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    auto const outcome = message->data.result;
    Transfer* transfer = nullptr;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
    transfer->end(outcome);
  }
}

// A resumed coroutine may end transfers, begin others, and close the loop.
void CurlLoop::tell_news() {
  while (!news_.empty()) {
    auto const transfer = std::move(news_.back());
    news_.pop_back();
    transfer->tell_news();
  }
}

// --- What libcurl asks for ---

int CurlLoop::on_socket(CURL* /*easy*/, curl_socket_t socket, int what, void* loop, void* /*data*/) {
  auto& self = *static_cast<CurlLoop*>(loop);
  self.unwatch(socket);
  if (what == CURL_POLL_REMOVE) return 0;
  return self.watch(socket, what) ? 0 : -1;
}

bool CurlLoop::watch(curl_socket_t socket, int what) {
  auto const watch = std::make_shared<SocketWatch>(*this, socket);
  watches_[socket] = watch;
  return watch->begin(what);
}

void CurlLoop::unwatch(curl_socket_t socket) {
  auto const found = watches_.find(socket);
  if (found == watches_.end()) return;
  found->second->end();
  watches_.erase(found);
}

int CurlLoop::on_timer(CURLM* /*multi*/, long milliseconds, void* loop) {
  static_cast<CurlLoop*>(loop)->set_timer(milliseconds);
  return 0;
}

void CurlLoop::set_timer(long milliseconds) {
  if (milliseconds == 0) return act_soon();
  timer_.cancel();
  if (milliseconds < 0) return;
  timer_.expires_after(std::chrono::milliseconds{milliseconds});
  timer_.async_wait([weak = weak_from_this()](boost::system::error_code error) {
    auto const self = weak.lock();
    if (!error && self) self->act_on_time();
  });
}

void CurlLoop::act_soon() {
  if (std::exchange(acts_soon_, true)) return;
  asio::post(context_, [weak = weak_from_this()] {
    auto const self = weak.lock();
    if (!self) return;
    self->acts_soon_ = false;
    self->act_on_time();
  });
}

void CurlLoop::act_on_time() {
  if (!multi_) return;
  act(CURL_SOCKET_TIMEOUT, 0);
  tell_news();
}

}  // namespace runnel::net

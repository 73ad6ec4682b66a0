#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cstddef>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "runnel/net/curl_handle.h"
#include "runnel/net/http_client.h"

namespace runnel::net {

class SocketWatch;
class Transfer;

// libcurl's multi handle, driven by one io_context. libcurl must not be called from its own callbacks, so
// they only record what happened. Coroutines are resumed after libcurl has returned, and only from handlers
// of the io_context, so a call to one exchange never runs the coroutine of another.
class CurlLoop : public std::enable_shared_from_this<CurlLoop> {
 public:
  CurlLoop(boost::asio::io_context& context, HttpClient::Options options);
  CurlLoop(CurlLoop const&) = delete;
  CurlLoop& operator=(CurlLoop const&) = delete;
  ~CurlLoop();

  [[nodiscard]] boost::asio::io_context& context() { return context_; }

  // A handle for one transfer: a spare one or a new one.
  EasyHandle take_handle();
  // The transfer then begins by itself soon. False if libcurl did not accept it.
  bool add(Transfer& transfer, CURL* easy);
  // Closes the transfer's connection unless the transfer is complete.
  void remove(Transfer& transfer, EasyHandle easy);

  // The transfer has something for the coroutine that waits for it.
  void note_news(std::shared_ptr<Transfer> transfer) { news_.push_back(std::move(transfer)); }

  // Ends all transfers and closes all connections.
  void close();

  // A watched socket is ready. The bits are libcurl's CURL_CSELECT_….
  void act(curl_socket_t socket, int bits);
  void tell_news();

 private:
  static int on_socket(CURL* easy, curl_socket_t socket, int what, void* loop, void* data);
  static int on_timer(CURLM* multi, long milliseconds, void* loop);

  bool watch(curl_socket_t socket, int what);
  void unwatch(curl_socket_t socket);
  void set_timer(long milliseconds);
  void act_soon();
  void act_on_time();
  void take_ended();
  void keep_connections();

  boost::asio::io_context& context_;
  HttpClient::Options const options_;
  MultiHandle multi_;
  boost::asio::steady_timer timer_;
  bool acts_soon_ = false;
  std::unordered_map<curl_socket_t, std::shared_ptr<SocketWatch>> watches_;
  std::unordered_set<Transfer*> transfers_;
  std::vector<std::shared_ptr<Transfer>> news_;
  std::vector<EasyHandle> spare_;
};

}  // namespace runnel::net

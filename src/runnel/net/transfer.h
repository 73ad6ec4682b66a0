#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "runnel/base/cancel.h"
#include "runnel/net/curl_handle.h"
#include "runnel/net/curl_loop.h"
#include "runnel/net/http_client.h"

namespace runnel::net {

// One exchange as libcurl runs it: the bytes that have arrived, and the one coroutine that waits for more.
class Transfer : public std::enable_shared_from_this<Transfer> {
 public:
  Transfer(std::shared_ptr<CurlLoop> loop, HttpRequest request);
  Transfer(Transfer const&) = delete;
  Transfer& operator=(Transfer const&) = delete;

  void begin();

  // See HttpExchange. They keep the transfer alive; the exchange may be destroyed meanwhile.
  static boost::asio::awaitable<HttpResult<HttpHead>> head(std::shared_ptr<Transfer> self, Deadline deadline,
                                                           std::shared_ptr<base::Cancel> cancel);
  static boost::asio::awaitable<HttpResult<std::string>> read(std::shared_ptr<Transfer> self,
                                                              Deadline deadline,
                                                              std::shared_ptr<base::Cancel> cancel);

  // libcurl has ended the transfer.
  void end(CURLcode outcome);
  // Ends the transfer and closes its socket, unless it has already ended. The waiting coroutine is resumed
  // later, by another handler.
  void fail(HttpError::Kind kind, std::string detail);
  // Resumes the waiting coroutine from the current handler.
  void tell_news();

 private:
  using Waiter = boost::asio::async_result<boost::asio::use_awaitable_t<>, void()>::handler_type;
  enum class Awaited { head, body };

  static std::size_t on_header(char* bytes, std::size_t size, std::size_t count, void* transfer);
  static std::size_t on_body(char* bytes, std::size_t size, std::size_t count, void* transfer);

  void set_request(CURL* easy);
  void set_callbacks(CURL* easy);
  void release();

  bool take_header_line(std::string_view line);
  void take_field(std::string_view line);
  bool take_body_bytes(std::string_view bytes);

  [[nodiscard]] bool has_come() const;
  void note_news();
  boost::asio::awaitable<void> wait(Awaited awaited, Deadline deadline);
  void arm(Deadline deadline);
  void check_deadline();
  bool stop_with(std::shared_ptr<base::Cancel> cancel);
  void go_on();
  HttpResult<HttpHead> take_head();
  HttpResult<std::string> take_body();

  std::shared_ptr<CurlLoop> const loop_;
  HttpRequest request_;
  HeaderList header_list_;
  EasyHandle easy_;  // Null before the beginning and after the end.
  std::array<char, CURL_ERROR_SIZE> error_text_{};

  HttpHead head_;
  std::size_t head_bytes_ = 0;
  bool head_is_whole_ = false;
  std::string body_;  // The bytes that have not been read yet.
  std::size_t last_read_bytes_ = 0;
  bool paused_ = false;
  bool ended_ = false;
  std::optional<HttpError> failure_;

  Awaited awaited_ = Awaited::head;
  std::optional<Waiter> waiter_;
  bool has_news_ = false;
  Deadline deadline_;
  std::optional<Deadline> armed_;
  boost::asio::steady_timer timer_;
  std::shared_ptr<base::Cancel> cancel_;
  std::optional<base::Cancel::Registration> stop_;
};

}  // namespace runnel::net

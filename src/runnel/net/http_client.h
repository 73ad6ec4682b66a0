#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/system/result.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runnel/base/cancel.h"

namespace runnel::net {

// Why an exchange failed. `detail` is for the log; it holds neither headers nor bodies.
struct HttpError {
  enum class Kind {
    unreachable,  // There is no connection, because of the name, the address or the proxy.
    untrusted,    // TLS failed, because of the certificate or the protocol.
    timed_out,    // The connect timeout or the deadline of the call has passed.
    cut,          // The connection ended before the answer did.
    malformed,    // The answer is not HTTP, or its head is too large.
    canceled,
  };
  Kind kind = Kind::cut;
  std::string detail;

  HttpError() = default;
  HttpError(Kind k, std::string d) : kind{k}, detail{std::move(d)} {}
};
template <class T>
using HttpResult = boost::system::result<T, HttpError>;

struct HttpRequest {
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;  // Sent with POST.
  std::chrono::milliseconds connect_timeout{10'000};
  // Uses HTTP/2 if TLS negotiates it. The default is HTTP/1.1, where closing the socket cancels at once.
  bool http2 = false;
};

struct HttpHead {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;  // The names are in lower case.

  [[nodiscard]] std::optional<std::string_view> header(std::string_view name) const;
};

using Deadline = std::chrono::steady_clock::time_point;

// One request and its answer. If it is destroyed before the answer is complete, the socket is closed at once;
// after that, the connection goes back to the pool. A deadline that passes or a stop that is requested also
// ends the exchange and closes its socket: the current call fails, and so do all later calls. Use it on the
// core of its client, with one call at a time.
class HttpExchange {
 public:
  HttpExchange() = default;
  HttpExchange(HttpExchange const&) = delete;
  HttpExchange& operator=(HttpExchange const&) = delete;
  virtual ~HttpExchange() = default;

  // The head of the final answer. Call it once.
  virtual boost::asio::awaitable<HttpResult<HttpHead>> head(Deadline deadline,
                                                            std::shared_ptr<base::Cancel> cancel) = 0;

  // The part of the body that has arrived since the last call, at least one byte. Empty at the end of the
  // body. Between calls only a limited amount is read from the socket. Bytes that arrived before the
  // connection failed are returned before the failure.
  virtual boost::asio::awaitable<HttpResult<std::string>> read(Deadline deadline,
                                                               std::shared_ptr<base::Cancel> cancel) = 0;
};

class CurlLoop;

// Sends requests to upstream servers from one core. Connections are pooled, TLS is verified, and proxies come
// from the usual environment variables. Destroy it before its io_context, either on the core or when the core
// has stopped. Exchanges that are still open then end with `canceled`.
class HttpClient {
 public:
  struct Options {
    std::size_t max_idle_connections = 64;
    std::string ca_file;  // The file of trusted certificates. Empty for the system's.
  };

  HttpClient(boost::asio::io_context& context, Options options);
  HttpClient(HttpClient const&) = delete;
  HttpClient& operator=(HttpClient const&) = delete;
  ~HttpClient();

  // Begins the request at once. Failures are reported by the exchange.
  std::unique_ptr<HttpExchange> post(HttpRequest request);

 private:
  std::shared_ptr<CurlLoop> loop_;
};

}  // namespace runnel::net

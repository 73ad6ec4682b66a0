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

// Why an exchange did not come to its end. `detail` is for the log; it holds neither headers nor bodies.
struct HttpError {
  enum class Kind {
    unreachable,  // Name, address or proxy: no connection.
    untrusted,    // TLS: the certificate or the protocol.
    timed_out,    // The connect time-out or the deadline of the call.
    cut,          // The connection ended before the answer did.
    malformed,    // What came is not HTTP, or its head is too large.
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
  std::string body;  // Sent by POST.
  std::chrono::milliseconds connect_timeout{10'000};
  bool http2 =
      false;  // Only where TLS negotiates it. HTTP/1.1 otherwise: closing its socket cancels at once.
};

struct HttpHead {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;  // Names in lower case.

  [[nodiscard]] std::optional<std::string_view> header(std::string_view name) const;
};

using Deadline = std::chrono::steady_clock::time_point;

// One request and its answer. Destroying it before the end closes the socket at once; after the end the
// connection goes back to the pool. A deadline that passes and a stop that is requested end the exchange and
// close its socket too; what was asked for then fails, and so does all that is asked later. On the core of
// its client; one call at a time.
class HttpExchange {
 public:
  HttpExchange() = default;
  HttpExchange(HttpExchange const&) = delete;
  HttpExchange& operator=(HttpExchange const&) = delete;
  virtual ~HttpExchange() = default;

  // The final answer's head, once.
  virtual boost::asio::awaitable<HttpResult<HttpHead>> head(Deadline deadline,
                                                            std::shared_ptr<base::Cancel> cancel) = 0;

  // What of the body has arrived since the last call, at least one byte; empty: its end. While nobody asks,
  // no more than a bounded amount is read from the socket. What arrived before a failure comes before it.
  virtual boost::asio::awaitable<HttpResult<std::string>> read(Deadline deadline,
                                                               std::shared_ptr<base::Cancel> cancel) = 0;
};

class CurlLoop;

// Talks to upstreams from one core: pooled connections, TLS verified, proxies by the usual environment
// variables. Destroyed before its io_context, with the core at rest or on the core; exchanges that are still
// open then end with `canceled`.
class HttpClient {
 public:
  struct Options {
    std::size_t max_idle_connections = 64;
    std::string ca_file;  // Empty: the system's.
  };

  HttpClient(boost::asio::io_context& context, Options options);
  HttpClient(HttpClient const&) = delete;
  HttpClient& operator=(HttpClient const&) = delete;
  ~HttpClient();

  // Begins at once; what goes wrong is told by the exchange.
  std::unique_ptr<HttpExchange> post(HttpRequest request);

 private:
  std::shared_ptr<CurlLoop> loop_;
};

}  // namespace runnel::net

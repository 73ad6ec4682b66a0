#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runnel/api/router.h"
#include "runnel/api/stream_tickets.h"
#include "runnel/base/cores.h"
#include "runnel/base/descriptor.h"
#include "runnel/base/metrics/metrics.h"
#include "runnel/core/error.h"
#include "runnel/http/auth/authenticator.h"
#include "runnel/http/connection/limits.h"
#include "runnel/http/user_limits.h"

namespace runnel::http {

struct ServerOptions {
  std::string host = "127.0.0.1";  // An IP address or "localhost".
  std::uint16_t port = 0;          // 0 takes any free port.
  Limits limits{};
  UserLimitOptions user_limits{};
  std::vector<std::string> allowed_origins{};  // Checked by Cors::check.
  base::Metrics* metrics = nullptr;            // If null, nothing is counted.
};

// The HTTP server on all cores. One thread makes all calls but adopt(), and it must not be a core's thread.
// `tickets` outlives the server; if null, every ticket is refused.
//
// How a request is served: the listener accepts the connection and gives it to a core (listener.h); admission
// makes room for it (connection_admission.h); it waits, at little cost, until the head of a request is whole
// (waiting_connection.h); serve_connection() reads the request, has the dispatcher check it and call its
// handler, and answers (connection.h, ../dispatcher.h). Then the connection waits again, or becomes an SSE
// session (stream_session.h).
class Server {
 public:
  Server(base::Cores& cores, api::Router router, std::shared_ptr<Authenticator const> authenticator,
         ServerOptions options, api::StreamTickets* tickets = nullptr);
  Server(Server const&) = delete;
  Server& operator=(Server const&) = delete;
  ~Server();

  // Begins to serve; call it once. Returns the port. Fails with `invalid`, `conflict` or `unavailable` and a
  // text for the operator.
  Result<std::uint16_t> listen();

  // Begins to serve without listening: the only connections are those that adopt() takes over. Call it
  // instead of listen().
  void start();

  // Serves a connected stream socket of any kind, as if the listener had accepted it, on the core that calls.
  // To be called between start() and stop(). Fails with `unavailable`.
  Result<void> adopt(base::Descriptor socket);

  // How many answers had a status that the contract does not declare (Dispatcher::note_status).
  [[nodiscard]] std::uint64_t undeclared_answers() const;

  // From here on new connections are refused; open ones are still served.
  void stop_accepting();

  // Closes all SSE streams so that clients reconnect, to another node if they can (NODE-3). Streams that open
  // later are closed, too.
  void close_streams();

  // Does all of the above and closes every connection; an answer in progress gets a short grace period.
  // Returns when every connection, session and feed is destroyed: the owners of handlers that still wait for
  // something must release them, and the cores must still run.
  void stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace runnel::http

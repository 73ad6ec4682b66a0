#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runnel/base/cores.h"
#include "runnel/base/metrics.h"
#include "runnel/core/error.h"
#include "runnel/http/authenticator.h"
#include "runnel/http/limits.h"
#include "runnel/http/router.h"
#include "runnel/http/user_limits.h"

namespace runnel::http {

class Tickets;

struct ServerOptions {
  std::string host = "127.0.0.1";  // An IP address or "localhost".
  std::uint16_t port = 0;          // 0: any free one.
  Limits limits{};
  UserLimitOptions user_limits{};
  std::vector<std::string> allowed_origins{};  // Checked by Cors::check.
  base::Metrics* metrics = nullptr;            // None: nothing is counted.
};

// The HTTP server on all cores. Its calls are made by one thread, which is none of the cores'. `tickets`
// outlives it; null: no ticket opens anything.
class Server {
 public:
  Server(base::Cores& cores, Router router, std::shared_ptr<Authenticator const> authenticator,
         ServerOptions options, Tickets* tickets = nullptr);
  Server(Server const&) = delete;
  Server& operator=(Server const&) = delete;
  ~Server();

  // Begins to serve; once. The port, or `invalid` or `unavailable` with what to say to the operator.
  Result<std::uint16_t> listen();

  // Answers that the contract does not declare (Dispatcher::note_status).
  [[nodiscard]] std::uint64_t undeclared_answers() const;

  // New connections are refused from here on; open ones are served.
  void stop_accepting();

  // Closes all SSE streams so that clients reconnect, to another node if they can (NODE-3); new ones too.
  void close_streams();

  // All of the above, and closes every connection; an answer under way gets a short grace. Returns when every
  // connection, session and feed is gone: handlers that still wait for something must be let go by their
  // owners, and the cores must still run.
  void stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace runnel::http

#include "runnel/http/connection/server.h"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <latch>
#include <utility>
#include <vector>

#include "runnel/base/task_group.h"
#include "runnel/http/connection/connection.h"
#include "runnel/http/connection/connection_admission.h"
#include "runnel/http/connection/core_sessions.h"
#include "runnel/http/connection/listener.h"
#include "runnel/http/dispatcher.h"

namespace runnel::http {

namespace asio = boost::asio;

namespace {
HttpMetrics metrics_of(ServerOptions const& options) {
  return options.metrics != nullptr ? HttpMetrics{*options.metrics} : HttpMetrics{};
}

api::Router counted(api::Router router, ServerOptions const& options) {
  if (options.metrics != nullptr) router.count_in(*options.metrics);
  return router;
}
}  // namespace

struct Server::Impl {
  Impl(base::Cores& all, api::Router router, std::shared_ptr<Authenticator const> authenticator,
       ServerOptions chosen, api::StreamTickets* tickets)
      : cores{all},
        options{std::move(chosen)},
        metrics{metrics_of(options)},
        dispatcher{counted(std::move(router), options),
                   std::move(authenticator),
                   {options.user_limits, Cors{options.allowed_origins}, tickets, metrics,
                    JsonLimits{options.limits.json_depth, options.limits.json_values},
                    std::clamp<std::size_t>(all.size() / 2, 1, 4)}},
        count{{options.limits.max_connections, options.limits.max_silent_connections}, metrics},
        admission{all, waiting_lists, count},
        listener{all, count, admission} {
    for (std::size_t i = 0; i < cores.size(); ++i) {
      auto const lag = options.metrics != nullptr ? loop_lag(*options.metrics, i) : base::Histogram{};
      all_sessions.push_back(
          std::make_unique<CoreSessions>(cores.at(i), options.limits, metrics, lag, connections));
      waiting_lists.push_back(std::make_unique<WaitingList>(*all_sessions[i], dispatcher, connections));
    }
  }

  // Returns when the call has returned on every core.
  void on_every_core(void (CoreSessions::*call)()) {
    std::latch done{static_cast<std::ptrdiff_t>(all_sessions.size())};
    for (auto& sessions : all_sessions) {
      asio::post(sessions->context(), [&target = *sessions, call, &done] {
        (target.*call)();
        done.count_down();
      });
    }
    done.wait();
  }

  base::Cores& cores;
  ServerOptions const options;
  HttpMetrics const metrics;
  Dispatcher dispatcher;
  ConnectionCount count;
  base::TaskGroup accepting;
  base::TaskGroup connections;
  base::TaskGroup watching;
  std::vector<std::unique_ptr<CoreSessions>> all_sessions;
  std::vector<std::unique_ptr<WaitingList>> waiting_lists;
  ConnectionAdmission admission;
  Listener listener;
  bool serving = false;
};

Server::Server(base::Cores& cores, api::Router router, std::shared_ptr<Authenticator const> authenticator,
               ServerOptions options, api::StreamTickets* tickets)
    : impl_{std::make_unique<Impl>(cores, std::move(router), std::move(authenticator), std::move(options),
                                   tickets)} {}

Server::~Server() {
  stop();
}

Result<std::uint16_t> Server::listen() {
  auto port = impl_->listener.open(impl_->options.host, impl_->options.port);
  if (!port) return port;

  start();
  impl_->accepting.spawn(impl_->cores.at(0).get_executor(), "listener", impl_->listener.run());
  return port;
}

void Server::start() {
  impl_->serving = true;
  for (auto& sessions : impl_->all_sessions) {
    impl_->watching.spawn(sessions->context().get_executor(), "sessions", sessions->run());
  }
}

// The type of the socket says TCP. That decides only how addresses are written, and nobody asks for one.
Result<void> Server::adopt(base::Descriptor socket) {
  auto const core = impl_->cores.current() % impl_->cores.size();
  Socket connection{impl_->cores.at(core)};
  boost::system::error_code error;
  connection.assign(asio::ip::tcp::v4(), socket.get(), error);
  if (error) return Error{Errc::unavailable, "a connection: " + error.message()};
  socket.release();
  impl_->admission.admit(core, std::move(connection));
  return {};
}

std::uint64_t Server::undeclared_answers() const {
  return impl_->dispatcher.undeclared_answers();
}

void Server::stop_accepting() {
  if (!impl_->serving) return;
  asio::post(impl_->cores.at(0), [&listener = impl_->listener] { listener.close(); });
  // From here on the listener gives no core another connection, so what the sessions are told reaches all of
  // them.
  impl_->accepting.join();
}

void Server::close_streams() {
  if (impl_->serving) impl_->on_every_core(&CoreSessions::end_streams);
}

void Server::stop() {
  if (!impl_->serving) return;
  stop_accepting();
  impl_->on_every_core(&CoreSessions::stop);
  impl_->connections.join();
  impl_->watching.join();
  // Only new connections on their way between two cores are left; they are closed when they arrive.
  while (impl_->count.open() > 0)
    impl_->on_every_core(&CoreSessions::stop);
  // The last of them may have left the count before its handler returned; this call waits for that handler.
  impl_->on_every_core(&CoreSessions::stop);
  impl_->serving = false;
}

}  // namespace runnel::http

#include "runnel/http/server.h"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <latch>
#include <utility>
#include <vector>

#include "runnel/base/task_group.h"
#include "runnel/http/connection.h"
#include "runnel/http/dispatcher.h"
#include "runnel/http/doorway.h"
#include "runnel/http/listener.h"
#include "runnel/http/roster.h"

namespace runnel::http {

namespace asio = boost::asio;

namespace {
HttpMetrics metrics_of(ServerOptions const& options) {
  return options.metrics != nullptr ? HttpMetrics{*options.metrics} : HttpMetrics{};
}

Router counted(Router router, ServerOptions const& options) {
  if (options.metrics != nullptr) router.count_in(*options.metrics);
  return router;
}
}  // namespace

struct Server::Impl {
  Impl(base::Cores& all, Router router, std::shared_ptr<Authenticator const> authenticator,
       ServerOptions chosen, Tickets* tickets)
      : cores{all},
        options{std::move(chosen)},
        metrics{metrics_of(options)},
        dispatcher{counted(std::move(router), options),
                   std::move(authenticator),
                   {options.user_limits, Cors{options.allowed_origins}, tickets, metrics,
                    JsonLimits{options.limits.json_depth, options.limits.json_values},
                    std::clamp<std::size_t>(all.size() / 2, 1, 4)}},
        census{{options.limits.max_connections, options.limits.max_silent_connections}, metrics},
        doorway{all, lobbies, census},
        listener{all, census,
                 [this](std::size_t core, Socket socket) { doorway.receive(core, std::move(socket)); }} {
    for (std::size_t i = 0; i < cores.size(); ++i) {
      auto const lag = options.metrics != nullptr ? loop_lag(*options.metrics, i) : base::Histogram{};
      rosters.push_back(std::make_unique<Roster>(cores.at(i), options.limits, metrics, lag));
      lobbies.push_back(
          std::make_unique<Lobby>(*rosters[i], [this, i](Caller caller, std::optional<Response> refusal) {
            serve(i, std::move(caller), std::move(refusal));
          }));
    }
  }

  void serve(std::size_t core, Caller caller, std::optional<Response> refusal) {
    connections.spawn(
        cores.at(core).get_executor(), "connection",
        serve_connection(std::move(caller), std::move(refusal), lobbies[core].get(), &dispatcher));
  }

  // Returns when it is done everywhere.
  void on_every_core(void (Roster::*call)()) {
    std::latch done{static_cast<std::ptrdiff_t>(rosters.size())};
    for (auto& roster : rosters) {
      asio::post(roster->context(), [&target = *roster, call, &done] {
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
  Census census;
  std::vector<std::unique_ptr<Roster>> rosters;
  std::vector<std::unique_ptr<Lobby>> lobbies;
  Doorway doorway;
  Listener listener;
  bool serving = false;
  base::TaskGroup accepting;
  base::TaskGroup connections;
  base::TaskGroup watching;
};

Server::Server(base::Cores& cores, Router router, std::shared_ptr<Authenticator const> authenticator,
               ServerOptions options, Tickets* tickets)
    : impl_{std::make_unique<Impl>(cores, std::move(router), std::move(authenticator), std::move(options),
                                   tickets)} {}

Server::~Server() {
  stop();
}

Result<std::uint16_t> Server::listen() {
  auto port = impl_->listener.open(impl_->options.host, impl_->options.port);
  if (!port) return port;

  impl_->serving = true;
  for (auto& roster : impl_->rosters) {
    impl_->watching.spawn(roster->context().get_executor(), "roster", roster->run());
  }
  impl_->accepting.spawn(impl_->cores.at(0).get_executor(), "listener", impl_->listener.run());
  return port;
}

std::uint64_t Server::undeclared_answers() const {
  return impl_->dispatcher.undeclared_answers();
}

void Server::stop_accepting() {
  if (!impl_->serving) return;
  asio::post(impl_->cores.at(0), [&listener = impl_->listener] { listener.close(); });
  // From here on no core gets another connection, so what is told to the rosters reaches all of them.
  impl_->accepting.join();
}

void Server::close_streams() {
  if (impl_->serving) impl_->on_every_core(&Roster::end_streams);
}

void Server::stop() {
  if (!impl_->serving) return;
  stop_accepting();
  impl_->on_every_core(&Roster::stop);
  impl_->connections.join();
  impl_->watching.join();
  // What is left are newcomers between two cores; where they arrive, they are closed.
  while (impl_->census.open() > 0)
    impl_->on_every_core(&Roster::stop);
  // The last of them may have been counted out in the middle of its turn.
  impl_->on_every_core(&Roster::stop);
  impl_->serving = false;
}

}  // namespace runnel::http

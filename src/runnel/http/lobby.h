#pragma once

#include <boost/intrusive/list.hpp>

#include <array>
#include <functional>
#include <memory>
#include <optional>

#include "runnel/http/visitor.h"

namespace runnel::http {

// The connections of one core that owe the server a request, in the order of their silence. Touched by its
// core's thread alone.
class Lobby {
 public:
  // Serves the request whose whole head the caller has sent, or gives it the refusal and closes.
  using Serve = std::function<void(Caller caller, std::optional<Response> refusal)>;

  Lobby(Roster& roster, Serve serve) : roster_{roster}, serve_{std::move(serve)} {}
  Lobby(Lobby const&) = delete;
  Lobby& operator=(Lobby const&) = delete;

  // From here on the connection is waited for.
  void seat(Caller caller);

  // Closes the connection that has been silent longest, among those without a request so far or among those
  // between two requests. False: there is none. One whose bytes wait to be read is passed over, and the
  // search ends where many of those come first: they are about to be served.
  bool send_away_silent() { return send_away(silent_); }
  bool send_away_idle() { return send_away(idle_); }

  // For its visitors.
  using Scratch = std::array<char, std::size_t{64} * 1024>;
  void enter(Visitor& visitor);
  void serve(Caller caller, std::optional<Response> refusal) {
    serve_(std::move(caller), std::move(refusal));
  }
  [[nodiscard]] Roster& roster() { return roster_; }
  [[nodiscard]] Scratch& scratch() { return *scratch_; }

 private:
  using Visitors = boost::intrusive::list<Visitor, boost::intrusive::base_hook<LobbyHook>,
                                          boost::intrusive::constant_time_size<false>>;

  static bool send_away(Visitors& visitors);

  Roster& roster_;
  Serve const serve_;
  Visitors silent_;
  Visitors idle_;
  std::unique_ptr<Scratch> scratch_ = std::make_unique<Scratch>();  // Read into, and emptied at once.
};

}  // namespace runnel::http

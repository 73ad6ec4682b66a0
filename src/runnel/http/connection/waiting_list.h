#pragma once

#include <boost/intrusive/list.hpp>

#include <array>
#include <memory>
#include <optional>

#include "runnel/base/task_group.h"
#include "runnel/http/connection/waiting_connection.h"

namespace runnel::http {

class Dispatcher;

// The connections of one core from which the server waits for a request, longest silent first. Only the
// core's thread uses it.
class WaitingList {
 public:
  // All arguments outlive it. Requests are served as tasks of `serving`.
  WaitingList(CoreSessions& sessions, Dispatcher& dispatcher, base::TaskGroup& serving)
      : sessions_{sessions}, dispatcher_{dispatcher}, serving_{serving} {}
  WaitingList(WaitingList const&) = delete;
  WaitingList& operator=(WaitingList const&) = delete;

  // Waits for the connection to send the whole head of a request, and then serves it.
  void add(OpenConnection connection);

  // Closes the connection that has been silent longest, among those that have not sent a request so far or
  // among those between two requests. False if there is none. A connection whose bytes wait to be read is
  // skipped, because it is about to be served; the search gives up after many of those.
  bool close_longest_silent() { return close_longest(silent_); }
  bool close_longest_idle() { return close_longest(idle_); }

  // For use by its connections.
  using Scratch = std::array<char, std::size_t{64} * 1024>;
  void enter(WaitingConnection& connection);
  // Serves the request whose whole head the connection has sent, or sends the refusal and closes the
  // connection.
  void serve(OpenConnection connection, std::optional<api::Response> refusal);
  [[nodiscard]] CoreSessions& sessions() { return sessions_; }
  [[nodiscard]] Scratch& scratch() { return *scratch_; }

 private:
  using Connections = boost::intrusive::list<WaitingConnection, boost::intrusive::base_hook<WaitingHook>,
                                             boost::intrusive::constant_time_size<false>>;

  static bool close_longest(Connections& connections);

  CoreSessions& sessions_;
  Dispatcher& dispatcher_;
  base::TaskGroup& serving_;
  Connections silent_;
  Connections idle_;
  // Input is read into it and copied or discarded at once.
  std::unique_ptr<Scratch> scratch_ = std::make_unique<Scratch>();
};

}  // namespace runnel::http

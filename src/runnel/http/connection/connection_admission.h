#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "runnel/base/cores.h"
#include "runnel/http/connection/connection_count.h"
#include "runnel/http/connection/waiting_list.h"

namespace runnel::http {

// Admits new connections. When a cap is reached, a new connection is not refused at once: otherwise, whoever
// fills the server with silent connections would keep everybody else out. Instead, a silent connection is
// closed to make room (HTTP-6), on each core the one that has been silent longest: first one that has not
// sent a request so far, on any core, then one between two requests, but never one that is being served. Only
// if there is none is the new connection refused, with 503.
class ConnectionAdmission {
 public:
  // There is one waiting list per core. All arguments outlive it.
  ConnectionAdmission(base::Cores& cores, std::vector<std::unique_ptr<WaitingList>> const& waiting_lists,
                      ConnectionCount& count)
      : cores_{cores}, waiting_lists_{waiting_lists}, count_{count} {}

  // May be called on any core; the socket belongs to the core with the index `core`.
  void admit(std::size_t core, Socket socket);

 private:
  // A new connection that visits one core after another to find a connection that can be closed for it.
  struct Search {
    std::size_t core;  // The core of the new connection.
    OpenConnection connection;
    std::size_t step = 0;
  };

  void look_for_room(Search search);
  bool make_room(std::size_t core, bool among_silent);
  void go_back(Search search, void (ConnectionAdmission::*then)(Search));
  void accept(Search search);
  void refuse(Search search);

  base::Cores& cores_;
  std::vector<std::unique_ptr<WaitingList>> const& waiting_lists_;
  ConnectionCount& count_;
};

}  // namespace runnel::http

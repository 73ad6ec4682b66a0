#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "runnel/base/cores.h"
#include "runnel/http/census.h"
#include "runnel/http/lobby.h"

namespace runnel::http {

// Lets newcomers in. When a cap is reached they are not locked out, or else whoever fills the server with
// silence would own it: the connection that has been silent longest makes room (HTTP-6). First go those that
// have not sent a request so far, on any core, then those between two requests; never one that is being
// served. Only if there is none is the newcomer turned away, with 503.
class Doorway {
 public:
  // One lobby a core. All outlive it.
  Doorway(base::Cores& cores, std::vector<std::unique_ptr<Lobby>> const& lobbies, Census& census)
      : cores_{cores}, lobbies_{lobbies}, census_{census} {}

  // On any core; the socket belongs to the core of that index.
  void receive(std::size_t core, Socket socket);

 private:
  // A newcomer on its way from core to core in search of someone who makes room.
  struct Search {
    std::size_t home;
    Caller newcomer;
    std::size_t step = 0;
  };

  void look_for_room(Search search);
  bool make_room(std::size_t core, bool among_silent);
  void go_home(Search search, void (Doorway::*then)(Search));
  void seat(Search search);
  void turn_away(Search search);

  base::Cores& cores_;
  std::vector<std::unique_ptr<Lobby>> const& lobbies_;
  Census& census_;
};

}  // namespace runnel::http

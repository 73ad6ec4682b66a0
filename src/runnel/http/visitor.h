#pragma once

#include <boost/intrusive/list_hook.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "runnel/http/census.h"
#include "runnel/http/head_scan.h"
#include "runnel/http/message.h"
#include "runnel/http/roster.h"
#include "runnel/http/socket.h"

namespace runnel::http {

class Lobby;
using LobbyHook =
    boost::intrusive::list_base_hook<boost::intrusive::tag<Lobby>,
                                     boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

// An open connection and what it has sent beyond the last request.
struct Caller {
  Caller(Socket its_socket, Place its_place, std::string its_bytes)
      : socket{std::move(its_socket)}, place{std::move(its_place)}, bytes{std::move(its_bytes)} {}

  Socket socket;
  Place place;
  std::string bytes;
};

// One connection that owes the server a request: a new one, or one between two requests. A plain object, and
// nothing is allocated for the request before its head is whole: silence and half a head are cheap to keep
// (HTTP-6). It lives on one core, in that core's lobby.
class Visitor final : public Member, public LobbyHook, public std::enable_shared_from_this<Visitor> {
 public:
  Visitor(Lobby& lobby, Caller caller);

  void start();

  // Whether it may be asked to go: all that it has sent so far is known, and is no whole head.
  [[nodiscard]] bool is_quiet() const;
  [[nodiscard]] bool is_silent() const { return caller_.place.is_silent(); }
  void close();

  void on_tick() override;
  void end_stream() override {}
  void stop() override { close(); }

 private:
  void await_input();
  void on_readable();
  HeadScan::State scan();
  void on_bytes();
  void hand_over(std::optional<Response> refusal);
  void leave();

  Lobby& lobby_;
  Caller caller_;
  HeadScan scan_;
  std::uint32_t since_;  // When the head began, or else the silence.
  bool gone_ = false;
};

}  // namespace runnel::http

#include "runnel/http/visitor.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/socket_base.hpp>

#include <utility>

#include "runnel/http/lobby.h"
#include "runnel/http/refusals.h"

namespace runnel::http {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {
bool is_momentary(error_code const& ec) {
  return ec == asio::error::would_block || ec == asio::error::try_again || ec == asio::error::interrupted;
}
}  // namespace

Visitor::Visitor(Lobby& lobby, Caller caller)
    : lobby_{lobby}, caller_{std::move(caller)}, since_{lobby.roster().now()} {}

void Visitor::start() {
  lobby_.enter(*this);
  if (lobby_.roster().stopping()) return close();
  error_code ec;
  caller_.socket.non_blocking(true, ec);
  if (ec) return close();
  if (caller_.bytes.empty()) return await_input();
  scan();
  // Not at once: a long pipeline of requests would become a deep stack.
  asio::post(lobby_.roster().context(), [self = shared_from_this()] {
    if (!self->gone_) self->on_bytes();
  });
}

bool Visitor::is_quiet() const {
  error_code ec;
  return scan_.state() == HeadScan::State::incomplete && caller_.socket.available(ec) == 0;
}

void Visitor::await_input() {
  caller_.socket.async_wait(asio::socket_base::wait_read, [self = shared_from_this()](error_code const& ec) {
    if (self->gone_) return;
    if (ec) return self->close();
    self->on_readable();
  });
}

void Visitor::on_readable() {
  auto& scratch = lobby_.scratch();
  error_code ec;
  auto const got = caller_.socket.read_some(asio::buffer(scratch), ec);
  if (is_momentary(ec)) return await_input();
  if (ec) return close();
  if (caller_.bytes.empty() && !is_silent()) since_ = lobby_.roster().now();
  caller_.bytes.append(scratch.data(), got);
  on_bytes();
}

HeadScan::State Visitor::scan() {
  return scan_.advance(std::string_view{caller_.bytes}.substr(0, lobby_.roster().limits().header_bytes));
}

void Visitor::on_bytes() {
  auto const state = scan();
  if (state == HeadScan::State::whole) return hand_over(std::nullopt);
  auto const& limits = lobby_.roster().limits();
  bool const complete_is_too_large = caller_.bytes.size() >= limits.header_bytes;
  if (state == HeadScan::State::incomplete && !complete_is_too_large) return await_input();
  hand_over(refuse_scanned(state, limits));
}

void Visitor::on_tick() {
  auto const& roster = lobby_.roster();
  bool const idle = !is_silent() && caller_.bytes.empty();
  auto const allowed = idle ? roster.limits().idle_timeout : roster.limits().header_deadline;
  if (!roster.passed(allowed + roster.limits().tick, since_)) return;  // now() may be a tick old.
  if (caller_.bytes.empty()) return close();
  error_code ignored;
  caller_.socket.cancel(ignored);
  hand_over(refuse_late());
}

void Visitor::hand_over(std::optional<Response> refusal) {
  leave();
  caller_.place.prove();
  lobby_.serve(std::move(caller_), std::move(refusal));
}

void Visitor::close() {
  if (gone_) return;
  leave();
  error_code ignored;
  caller_.socket.close(ignored);
  caller_.place.give_up();
}

void Visitor::leave() {
  gone_ = true;
  LobbyHook::unlink();
  lobby_.roster().leave(*this);
}

}  // namespace runnel::http

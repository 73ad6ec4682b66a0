#include "runnel/http/connection/waiting_connection.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/socket_base.hpp>

#include <utility>

#include "runnel/http/connection/refusals.h"
#include "runnel/http/connection/waiting_list.h"

namespace runnel::http {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {
bool is_momentary(error_code const& ec) {
  return ec == asio::error::would_block || ec == asio::error::try_again || ec == asio::error::interrupted;
}
}  // namespace

WaitingConnection::WaitingConnection(WaitingList& waiting, OpenConnection connection)
    : waiting_{waiting}, connection_{std::move(connection)}, since_{waiting.sessions().now()} {}

void WaitingConnection::start() {
  waiting_.enter(*this);
  if (waiting_.sessions().stopping()) return close();
  error_code ec;
  connection_.socket.non_blocking(true, ec);
  if (ec) return close();
  if (connection_.bytes.empty()) return await_input();
  scan();
  // Posted, not called: otherwise a long pipeline of requests would become a deep stack.
  asio::post(waiting_.sessions().context(), [self = shared_from_this()] {
    if (!self->gone_) self->on_bytes();
  });
}

bool WaitingConnection::is_quiet() const {
  error_code ec;
  return scan_.state() == HeadScan::State::incomplete && connection_.socket.available(ec) == 0;
}

void WaitingConnection::await_input() {
  connection_.socket.async_wait(asio::socket_base::wait_read,
                                [self = shared_from_this()](error_code const& ec) {
                                  if (self->gone_) return;
                                  if (ec) return self->close();
                                  self->on_readable();
                                });
}

void WaitingConnection::on_readable() {
  auto& scratch = waiting_.scratch();
  error_code ec;
  auto const got = connection_.socket.read_some(asio::buffer(scratch), ec);
  if (is_momentary(ec)) return await_input();
  if (ec) return close();
  if (connection_.bytes.empty() && !is_silent()) since_ = waiting_.sessions().now();
  connection_.bytes.append(scratch.data(), got);
  on_bytes();
}

HeadScan::State WaitingConnection::scan() {
  return scan_.advance(
      std::string_view{connection_.bytes}.substr(0, waiting_.sessions().limits().header_bytes));
}

void WaitingConnection::on_bytes() {
  auto const state = scan();
  if (state == HeadScan::State::whole) return hand_over(std::nullopt);
  auto const& limits = waiting_.sessions().limits();
  bool const complete_is_too_large = connection_.bytes.size() >= limits.header_bytes;
  if (state == HeadScan::State::incomplete && !complete_is_too_large) return await_input();
  hand_over(refuse_scanned(state, limits));
}

void WaitingConnection::on_tick() {
  auto const& sessions = waiting_.sessions();
  bool const idle = !is_silent() && connection_.bytes.empty();
  auto const allowed = idle ? sessions.limits().idle_timeout : sessions.limits().header_deadline;
  if (!sessions.passed(allowed + sessions.limits().tick, since_)) return;  // now() may be a tick old.
  if (connection_.bytes.empty()) return close();
  error_code ignored;
  connection_.socket.cancel(ignored);
  hand_over(refuse_late());
}

void WaitingConnection::hand_over(std::optional<api::Response> refusal) {
  leave();
  connection_.entry.prove();
  waiting_.serve(std::move(connection_), std::move(refusal));
}

void WaitingConnection::close() {
  if (gone_) return;
  leave();
  error_code ignored;
  connection_.socket.close(ignored);
  connection_.entry.give_up();
}

void WaitingConnection::leave() {
  gone_ = true;
  WaitingHook::unlink();
  waiting_.sessions().leave(*this);
}

}  // namespace runnel::http

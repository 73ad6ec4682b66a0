#include "runnel/http/connection/timed_socket.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/socket_base.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace runnel::http {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {
constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

// How many bytes are still read and discarded of a request that was refused before its end.
constexpr std::size_t kMaxDiscarded = std::size_t{16} * 1024 * 1024;
}  // namespace

TimedSocket::TimedSocket(Socket socket, CoreSessions& sessions)
    : socket_{std::move(socket)}, sessions_{sessions} {
  sessions_.enter(*this);
}

// An expired deadline cancels what the socket waits for, at every tick until the operation is over, because
// an operation with several steps does not notice a cancel between two of them.
void TimedSocket::arm(std::chrono::milliseconds duration) {
  if (sessions_.stopping()) duration = std::min(duration, sessions_.limits().stop_grace);
  allowed_ = duration + sessions_.limits().tick;  // now() may be a tick old.
  armed_at_ = sessions_.now();
  armed_ = true;
  expired_ = false;
}

void TimedSocket::on_tick() {
  if (!armed_ || !sessions_.passed(allowed_, armed_at_)) return;
  expired_ = true;
  error_code ignored;
  socket_.cancel(ignored);
}

void TimedSocket::stop() {
  // The client's input ends here for a read that waits, and for the steps of it that are still to come.
  error_code ignored;
  if (reading_) socket_.shutdown(asio::socket_base::shutdown_receive, ignored);
  if (armed_) arm(allowed_);
}

void TimedSocket::begin_reading(std::chrono::milliseconds deadline) {
  arm(deadline);
  reading_ = true;
}

void TimedSocket::end_reading() {
  reading_ = false;
  disarm();
}

asio::awaitable<error_code> TimedSocket::read_some(asio::mutable_buffer room, std::size_t* got) {
  auto const [ec, size] = co_await socket_.async_read_some(room, kAwait);
  *got = size;
  if (!ec && expired_) co_return asio::error::operation_aborted;
  co_return ec;
}

// Each piece that the kernel takes renews the deadline, so that a large answer may take long but must not
// stand still. The whole answer has a deadline, too, so that it cannot become arbitrarily slow.
asio::awaitable<bool> TimedSocket::send(std::string_view head, std::string_view body, std::string_view tail) {
  std::array<asio::const_buffer, 3> parts{asio::buffer(head), asio::buffer(body), asio::buffer(tail)};
  std::size_t left = head.size() + body.size() + tail.size();
  auto const begun = sessions_.now();
  auto const deadline = sessions_.limits().answer_deadline(left);
  while (left > 0) {
    arm(sessions_.limits().write_timeout);
    auto const [ec, written] = co_await socket_.async_write_some(parts, kAwait);
    disarm();
    bool const late = written < left && sessions_.passed(deadline, begun);
    if (expired_ || late) abandon();
    if (ec || !socket_.is_open()) co_return false;
    left -= written;
    std::size_t skip = written;
    for (auto& part : parts) {
      auto const skipped = std::min(skip, part.size());
      part += skipped;
      skip -= skipped;
    }
  }
  co_return true;
}

// Also drops what the kernel holds for a reader that does not read.
void TimedSocket::abandon() {
  error_code ignored;
  socket_.set_option(asio::socket_base::linger(true, 0), ignored);
  socket_.close(ignored);
}

asio::awaitable<void> TimedSocket::discard_input(asio::mutable_buffer scratch) {
  std::size_t total = 0;
  arm(sessions_.limits().stop_grace);
  while (total < kMaxDiscarded) {
    auto const [ec, got] = co_await socket_.async_read_some(scratch, kAwait);
    if (ec || expired_) break;
    total += got;
  }
  disarm();
}

}  // namespace runnel::http

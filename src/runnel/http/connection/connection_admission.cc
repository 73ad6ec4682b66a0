#include "runnel/http/connection/connection_admission.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/socket_base.hpp>

#include <array>
#include <string>
#include <utility>

namespace runnel::http {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {
std::string full() {
  return "HTTP/1.1 503 Service Unavailable\r\n"
         "Content-Type: application/json\r\n"
         "Content-Length: 86\r\n"
         "Retry-After: 1\r\n"
         "X-Request-Id: " +
         mint_uuid() +
         "\r\n"
         "Connection: close\r\n"
         "\r\n"
         R"({"error":{"code":"TOO_MANY_CONNECTIONS","message":"The server is full.","details":{}}})";
}
}  // namespace

void ConnectionAdmission::admit(std::size_t core, Socket socket) {
  Search search{core, OpenConnection{std::move(socket), ConnectionEntry{count_}, {}}};
  asio::post(cores_.at(core), [this, search = std::move(search)]() mutable {
    if (count_.is_crowded()) return look_for_room(std::move(search));
    accept(std::move(search));
  });
}

// Asks each core in turn to close a silent connection, beginning with the new connection's own core, and then
// each core in turn to close an idle one.
void ConnectionAdmission::look_for_room(Search search) {
  auto const cores = waiting_lists_.size();
  bool const among_silent = search.step < cores;
  bool const helps = among_silent || !count_.is_silence_crowded();
  if (search.step == 2 * cores || !helps) return go_back(std::move(search), &ConnectionAdmission::refuse);

  auto const core = (search.core + search.step) % cores;
  ++search.step;
  asio::post(cores_.at(core), [this, core, among_silent, search = std::move(search)]() mutable {
    bool const found = make_room(core, among_silent);
    if (found) return go_back(std::move(search), &ConnectionAdmission::accept);
    look_for_room(std::move(search));
  });
}

bool ConnectionAdmission::make_room(std::size_t core, bool among_silent) {
  if (!count_.is_crowded()) return true;
  bool const made = among_silent ? waiting_lists_[core]->close_longest_silent()
                                 : waiting_lists_[core]->close_longest_idle();
  if (made) count_.metrics.connections_evicted.add();
  return made;
}

void ConnectionAdmission::go_back(Search search, void (ConnectionAdmission::*then)(Search)) {
  auto const core = search.core;
  asio::post(cores_.at(core),
             [this, then, search = std::move(search)]() mutable { (this->*then)(std::move(search)); });
}

void ConnectionAdmission::accept(Search search) {
  waiting_lists_[search.core]->add(std::move(search.connection));
}

// Nothing here waits for the client: what the kernel does not take at once is not sent.
void ConnectionAdmission::refuse(Search search) {
  count_.metrics.connections_refused.add();
  auto& socket = search.connection.socket;
  error_code ignored;
  socket.non_blocking(true, ignored);
  socket.write_some(asio::buffer(full()), ignored);
  socket.shutdown(asio::socket_base::shutdown_send, ignored);
  // Bytes left unread would turn the close into a reset, which may overtake the answer.
  std::array<char, 4096> discarded;  // NOLINT: only read into.
  socket.read_some(asio::buffer(discarded), ignored);
  socket.close(ignored);
}

}  // namespace runnel::http

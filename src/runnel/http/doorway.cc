#include "runnel/http/doorway.h"

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

void Doorway::receive(std::size_t core, Socket socket) {
  Search search{core, Caller{std::move(socket), Place{census_}, {}}};
  asio::post(cores_.at(core), [this, search = std::move(search)]() mutable {
    if (census_.is_crowded()) return look_for_room(std::move(search));
    seat(std::move(search));
  });
}

// Asks each core in turn for a silent connection, beginning at home, and then each for an idle one.
void Doorway::look_for_room(Search search) {
  auto const cores = lobbies_.size();
  bool const among_silent = search.step < cores;
  bool const helps = among_silent || !census_.is_silence_crowded();
  if (search.step == 2 * cores || !helps) return go_home(std::move(search), &Doorway::turn_away);

  auto const core = (search.home + search.step) % cores;
  ++search.step;
  asio::post(cores_.at(core), [this, core, among_silent, search = std::move(search)]() mutable {
    bool const found = make_room(core, among_silent);
    if (found) return go_home(std::move(search), &Doorway::seat);
    look_for_room(std::move(search));
  });
}

bool Doorway::make_room(std::size_t core, bool among_silent) {
  if (!census_.is_crowded()) return true;
  bool const made = among_silent ? lobbies_[core]->send_away_silent() : lobbies_[core]->send_away_idle();
  if (made) census_.metrics.connections_evicted.add();
  return made;
}

void Doorway::go_home(Search search, void (Doorway::*then)(Search)) {
  auto const home = search.home;
  asio::post(cores_.at(home),
             [this, then, search = std::move(search)]() mutable { (this->*then)(std::move(search)); });
}

void Doorway::seat(Search search) {
  lobbies_[search.home]->seat(std::move(search.newcomer));
}

// Nothing here waits for the client: what the kernel does not take at once is not sent.
void Doorway::turn_away(Search search) {
  census_.metrics.connections_refused.add();
  auto& socket = search.newcomer.socket;
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

#include "runnel/http/connection/waiting_list.h"

#include <utility>

#include "runnel/http/connection/connection.h"

namespace runnel::http {

namespace {
constexpr int kMaxPassedOver = 64;
}  // namespace

void WaitingList::add(OpenConnection connection) {
  std::make_shared<WaitingConnection>(*this, std::move(connection))->start();
}

void WaitingList::enter(WaitingConnection& connection) {
  sessions_.enter(connection);
  (connection.is_silent() ? silent_ : idle_).push_back(connection);
}

void WaitingList::serve(OpenConnection connection, std::optional<api::Response> refusal) {
  serving_.spawn(sessions_.context().get_executor(), "connection",
                 serve_connection(std::move(connection), std::move(refusal), this, &dispatcher_));
}

bool WaitingList::close_longest(Connections& connections) {
  int passed_over = 0;
  for (auto& connection : connections) {
    if (connection.is_quiet()) {
      connection.close();
      return true;
    }
    if (++passed_over == kMaxPassedOver) return false;
  }
  return false;
}

}  // namespace runnel::http

#include "runnel/http/lobby.h"

#include <utility>

namespace runnel::http {

namespace {
constexpr int kMaxPassedOver = 64;
}  // namespace

void Lobby::seat(Caller caller) {
  std::make_shared<Visitor>(*this, std::move(caller))->start();
}

void Lobby::enter(Visitor& visitor) {
  roster_.enter(visitor);
  (visitor.is_silent() ? silent_ : idle_).push_back(visitor);
}

bool Lobby::send_away(Visitors& visitors) {
  int passed_over = 0;
  for (auto& visitor : visitors) {
    if (visitor.is_quiet()) {
      visitor.close();
      return true;
    }
    if (++passed_over == kMaxPassedOver) return false;
  }
  return false;
}

}  // namespace runnel::http

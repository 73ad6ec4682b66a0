#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runnel/core/ids.h"
#include "runnel/store/sql.h"

// The rows of tickets (HTTP-4). Times are UNIX milliseconds.
namespace runnel::modules::tickets {

enum class Kind { sse, websocket };

// What a ticket opens.
struct Target {
  Kind kind = Kind::websocket;
  ThreadId thread;  // Set only for a stream.
  RunId run;        // Empty for the stream of the whole thread.

  // A WebSocket, once.
  Target() = default;
  // The stream of the run, or of the whole thread if no run is named, any number of times.
  Target(ThreadId t, RunId r) : kind{Kind::sse}, thread{std::move(t)}, run{std::move(r)} {}
};

// How soon a new ticket must be used.
inline constexpr std::int64_t kFirstUseMs = 60'000;
// How soon after its last use an SSE ticket must be used again.
inline constexpr std::int64_t kReuseMs = 600'000;

struct NewTicket {
  std::string hash;
  UserId owner;
  Target target;
  std::int64_t expires_at = 0;  // When the token that made the ticket expires. No use extends it.
  std::int64_t now = 0;

  [[nodiscard]] std::int64_t use_before() const { return std::min(now + kFirstUseMs, expires_at); }
};

struct Holder {
  UserId owner;
  std::int64_t expires_at = 0;

  Holder() = default;
  Holder(UserId o, std::int64_t e) : owner{std::move(o)}, expires_at{e} {}
};

// A stream was open on an SSE ticket at this time.
struct Touch {
  std::string hash;
  std::int64_t at = 0;
};

class Repository {
 public:
  explicit Repository(store::Sql& sql) : sql_{sql} {}

  // `not_found` if the owner has no such run or thread. A repeat changes nothing.
  store::Async<void> put(NewTicket ticket);

  // The ticket's owner, if it may be used now for exactly this target; otherwise `not_found`, and nothing
  // changes. A use consumes a WebSocket's ticket, and extends the time of a stream's. If the outcome is
  // unknown, a repeat may be refused. A ticket of a deleted thread opens nothing, although its row stays
  // until its time is over.
  store::Async<Holder> use(std::string hash, Target target, std::int64_t now);

  // Streams were open on these SSE tickets, so their time is extended. Tickets that no longer exist are
  // ignored.
  store::Async<void> touch(std::vector<Touch> touches);

  // Deletes up to `limit` tickets that can no longer be used, and returns how many it deleted.
  store::Async<std::size_t> expire(std::int64_t now, std::size_t limit);

  // The owner of the ticket with this hash, valid or not. Empty if there is no such ticket.
  store::Async<std::optional<UserId>> owner_of(std::string hash);

 private:
  store::Sql& sql_;
};

}  // namespace runnel::modules::tickets

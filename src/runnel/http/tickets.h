#pragma once

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "runnel/base/cancel.h"
#include "runnel/base/clock.h"
#include "runnel/base/cores.h"
#include "runnel/base/task_group.h"
#include "runnel/core/ids.h"
#include "runnel/http/event_feed.h"
#include "runnel/store/store.h"

namespace runnel::http {

struct TicketOrder {
  UserId owner;
  std::int64_t token_expires_at = 0;  // UNIX seconds; 0: unknown.
  store::TicketKind kind = store::TicketKind::sse;
  ThreadId thread;  // This and `run`: for SSE only.
  RunId run;
};

struct MintedTicket {
  std::string ticket;
  std::int64_t use_before = 0;  // UNIX milliseconds.
};

struct TicketHolder {
  UserId owner;
  std::int64_t token_expires_at = 0;  // Of the token that the ticket was made with, as in TicketOrder.
  std::string ticket_hash;
};

// Tickets for what a browser cannot put a header on (HTTP-4). The store decides, and knows only their hashes,
// so that they outlive a restart and are good at every node. Any thread may call.
class Tickets {
 public:
  Tickets(store::Store& store, base::Clock const& clock) : store_{store}, clock_{clock} {}
  Tickets(Tickets const&) = delete;
  Tickets& operator=(Tickets const&) = delete;

  // `not_found` where the owner has no such run.
  store::Async<MintedTicket> mint(TicketOrder order);

  // Whose it is, whatever it is good for; `not_found` where there is no such ticket. It costs a read: anyone
  // may try any ticket, and must not get as far as the store's writer before his requests are counted.
  store::Async<UserId> owner_of(std::string ticket);

  // `not_found` unless the ticket opens this run's stream, now.
  store::Async<TicketHolder> open_stream(std::string ticket, ThreadId thread, RunId run);

  // The same feed; until it is destroyed the ticket counts as used.
  std::unique_ptr<EventFeed> keep_in_use(std::string ticket_hash, std::unique_ptr<EventFeed> feed);

  // Tells the store which tickets are in use, or were since it was last told.
  store::Async<void> renew();

  // Renews every minute, so that neither a stream longer than a ticket's time nor a crash in it costs the
  // reader its ticket.
  void start_renewing(base::Cores& cores);

  // When no feed is left and the cores still run; not from a core. Renews a last time.
  void stop();

 private:
  class FeedOnTicket;

  struct Use {
    std::size_t streams = 0;
    std::int64_t ended_at = 0;  // Where there are none.
  };

  void begin_use(std::string const& hash);
  void end_use(std::string const& hash);
  std::vector<store::TicketTouch> take_touches();
  void give_back(std::vector<store::TicketTouch> const& touches);
  boost::asio::awaitable<void> keep_renewing();

  store::Store& store_;
  base::Clock const& clock_;
  std::mutex mutex_;
  std::unordered_map<std::string, Use> uses_;  // By hash.
  base::Cores* cores_ = nullptr;               // Null: does not renew.
  std::shared_ptr<base::Cancel> const cancel_ = std::make_shared<base::Cancel>();
  base::TaskGroup tasks_;
};

}  // namespace runnel::http

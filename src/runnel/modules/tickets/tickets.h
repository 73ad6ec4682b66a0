#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "runnel/api/stream_tickets.h"
#include "runnel/base/cancel.h"
#include "runnel/base/task_group.h"
#include "runnel/core/ids.h"
#include "runnel/modules/module.h"
#include "runnel/modules/tickets/repository.h"

namespace runnel::modules::tickets {

struct Minted {
  std::string ticket;
  std::int64_t use_before = 0;  // UNIX milliseconds.
};

// Tickets for connections on which a browser cannot send a header (HTTP-4). The store decides whether a
// ticket is valid, and knows only its hash, so a ticket survives a restart and is valid on every node. Any
// thread may call.
class Tickets final : public Module, public api::StreamTickets {
 public:
  explicit Tickets(Context const& context)
      : clock_{context.clock}, cores_{context.cores}, repository_{context.sql} {}

  void add_routes(api::Router& router) override;

  // Once a minute, until `stop`: renews the tickets in use, so that a reader keeps its ticket even if a
  // stream lasts longer than the ticket's time or is cut by a crash, and deletes the tickets that can no
  // longer be used.
  void start() override;
  void stop() override;

  // `token_expires_at` is in UNIX seconds; 0 if it is unknown. `not_found` if the owner has no such run.
  store::Async<Minted> mint(UserId owner, Target target, std::int64_t token_expires_at);

  store::Async<UserId> owner_of(std::string ticket) override;
  store::Async<api::TicketHolder> open_stream(std::string ticket, ThreadId thread, RunId run) override;
  store::Async<api::TicketHolder> open_web_socket(std::string ticket) override;
  [[nodiscard]] std::shared_ptr<void const> keep_in_use(std::string ticket_hash) override;

  // Tells the store which tickets are in use, or were in use since the last renewal.
  store::Async<void> renew();

  store::Async<void> expire();

 private:
  class InUse;

  struct Streams {
    std::size_t open = 0;
    std::int64_t ended_at = 0;  // When the last one ended, if none is open.
  };

  void begin_use(std::string const& hash);
  void end_use(std::string const& hash);
  std::vector<Touch> take_touches();
  void give_back(std::vector<Touch> const& touches);
  boost::asio::awaitable<void> keep_rows();

  base::Clock const& clock_;
  base::Cores& cores_;
  Repository repository_;
  std::mutex mutex_;
  std::unordered_map<std::string, Streams> streams_;  // By hash.
  std::shared_ptr<base::Cancel> const cancel_ = std::make_shared<base::Cancel>();
  base::TaskGroup tasks_;
};

}  // namespace runnel::modules::tickets

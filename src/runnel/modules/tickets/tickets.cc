#include "runnel/modules/tickets/tickets.h"

#include <boost/asio/post.hpp>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <string_view>
#include <utility>

#include "runnel/base/log/log.h"
#include "runnel/base/sleep.h"
#include "runnel/core/text/base64url.h"
#include "runnel/core/text/sha256.h"

namespace runnel::modules::tickets {

namespace asio = boost::asio;
using store::Async;

namespace {

// base/log/log_redact.cc also knows this prefix, and keeps texts that begin with it out of the log.
constexpr std::string_view kPrefix = "tkt_";
constexpr std::size_t kSecretBytes = 32;
constexpr std::size_t kTicketLength = kPrefix.size() + (kSecretBytes * 4 + 2) / 3;
constexpr std::chrono::milliseconds kInterval{60'000};
constexpr std::size_t kExpiredAtOnce = 100;
static_assert(kInterval.count() * 2 < kReuseMs);

constexpr std::int64_t kNeverMs = std::numeric_limits<std::int64_t>::max();

Result<std::string> random_ticket() {
  std::array<unsigned char, kSecretBytes> secret{};
  if (RAND_bytes(secret.data(), static_cast<int>(secret.size())) != 1) {
    return Error{Errc::unavailable, "the system gives no random bytes"};
  }
  return std::string{kPrefix} +
         base64url_encode({reinterpret_cast<char const*>(secret.data()), secret.size()});
}

// Whether the text has the form of a ticket. If it does not, the store need not be asked.
bool looks_like_a_ticket(std::string_view text) {
  return text.size() == kTicketLength && text.starts_with(kPrefix);
}

// A token sets no end if its own end is unknown or is too large for milliseconds.
std::int64_t end_of_token_ms(std::int64_t expires_at_s) {
  return expires_at_s == 0 || expires_at_s > kNeverMs / 1000 ? kNeverMs : expires_at_s * 1000;
}

api::TicketHolder to_ticket_holder(Holder const& used, std::string hash) {
  api::TicketHolder out;
  out.owner = used.owner;
  out.token_expires_at = used.expires_at == kNeverMs ? 0 : used.expires_at / 1000;
  out.ticket_hash = std::move(hash);
  return out;
}

}  // namespace

class Tickets::InUse final {
 public:
  InUse(Tickets& tickets, std::string hash) : tickets_{tickets}, hash_{std::move(hash)} {
    tickets_.begin_use(hash_);
  }
  InUse(InUse const&) = delete;
  InUse& operator=(InUse const&) = delete;
  ~InUse() { tickets_.end_use(hash_); }

 private:
  Tickets& tickets_;
  std::string const hash_;
};

Async<Minted> Tickets::mint(UserId owner, Target target, std::int64_t token_expires_at) {
  auto ticket = random_ticket();
  if (!ticket) co_return ticket.error();
  NewTicket row;
  row.hash = sha256_hex(*ticket);
  row.owner = std::move(owner);
  row.target = std::move(target);
  row.expires_at = end_of_token_ms(token_expires_at);
  row.now = clock_.now_ms();
  Minted minted;
  minted.ticket = std::move(*ticket);
  minted.use_before = row.use_before();
  auto const stored = co_await repository_.put(std::move(row));
  if (!stored) co_return stored.error();
  co_return minted;
}

Async<UserId> Tickets::owner_of(std::string ticket) {
  if (!looks_like_a_ticket(ticket)) co_return Error{Errc::not_found, "the text is not a ticket"};
  auto const owner = co_await repository_.owner_of(sha256_hex(ticket));
  if (!owner) co_return owner.error();
  if (!*owner) co_return Error{Errc::not_found, "the ticket is unknown"};
  co_return **owner;
}

Async<api::TicketHolder> Tickets::open_stream(std::string ticket, ThreadId thread, RunId run) {
  if (!looks_like_a_ticket(ticket)) co_return Error{Errc::not_found, "the text is not a ticket"};
  auto hash = sha256_hex(ticket);
  auto const used =
      co_await repository_.use(hash, Target{std::move(thread), std::move(run)}, clock_.now_ms());
  if (!used) co_return used.error();
  co_return to_ticket_holder(*used, std::move(hash));
}

Async<api::TicketHolder> Tickets::open_web_socket(std::string ticket) {
  if (!looks_like_a_ticket(ticket)) co_return Error{Errc::not_found, "the text is not a ticket"};
  auto hash = sha256_hex(ticket);
  auto const used = co_await repository_.use(hash, Target{}, clock_.now_ms());
  if (!used) co_return used.error();
  // Its row is gone, so that nothing needs to keep it in use.
  co_return to_ticket_holder(*used, {});
}

std::shared_ptr<void const> Tickets::keep_in_use(std::string ticket_hash) {
  return std::make_shared<InUse const>(*this, std::move(ticket_hash));
}

void Tickets::begin_use(std::string const& hash) {
  std::lock_guard const lock{mutex_};
  ++streams_[hash].open;
}

void Tickets::end_use(std::string const& hash) {
  std::lock_guard const lock{mutex_};
  auto& streams = streams_[hash];
  --streams.open;
  streams.ended_at = clock_.now_ms();
}

std::vector<Touch> Tickets::take_touches() {
  std::lock_guard const lock{mutex_};
  auto const now = clock_.now_ms();
  std::vector<Touch> out;
  out.reserve(streams_.size());
  for (auto const& [hash, streams] : streams_)
    out.push_back({hash, streams.open > 0 ? now : streams.ended_at});
  std::erase_if(streams_, [](auto const& item) { return item.second.open == 0; });
  // All nodes use the same order, so that two of them never wait for each other's rows.
  std::sort(out.begin(), out.end(), [](auto const& a, auto const& b) { return a.hash < b.hash; });
  return out;
}

Async<void> Tickets::renew() {
  auto touches = take_touches();
  if (touches.empty()) co_return Result<void>{};
  auto const renewed = co_await repository_.touch(touches);
  if (!renewed) give_back(touches);
  co_return renewed;
}

// Keeps touches that could not be stored, so that the next renewal stores them.
void Tickets::give_back(std::vector<Touch> const& touches) {
  std::lock_guard const lock{mutex_};
  auto const too_old = clock_.now_ms() - kReuseMs;
  for (auto const& touch : touches) {
    if (touch.at <= too_old) continue;
    auto& streams = streams_[touch.hash];
    streams.ended_at = std::max(streams.ended_at, touch.at);
  }
}

Async<void> Tickets::expire() {
  while (!cancel_->requested()) {
    auto const expired = co_await repository_.expire(clock_.now_ms(), kExpiredAtOnce);
    if (!expired) co_return expired.error();
    if (*expired < kExpiredAtOnce) break;
  }
  co_return Result<void>{};
}

void Tickets::start() {
  tasks_.spawn(cores_.at(0).get_executor(), "keep tickets", keep_rows());
}

asio::awaitable<void> Tickets::keep_rows() {
  bool go_on = true;
  while (go_on) {
    go_on = co_await base::sleep_for(kInterval, cancel_);
    auto const renewed = co_await renew();
    if (!renewed) {
      base::log(base::LogLevel::warn, "tickets in use were not renewed",
                {{"detail", renewed.error().detail}});
    }
    // Without a renewal, the time of tickets with open streams may seem to be over.
    if (!go_on || !renewed) continue;
    auto const expired = co_await expire();
    if (!expired) {
      base::log(base::LogLevel::warn, "old tickets were not deleted", {{"detail", expired.error().detail}});
    }
  }
}

void Tickets::stop() {
  asio::post(cores_.at(0), [cancel = cancel_] { cancel->request(base::CancelReason::shutdown); });
  tasks_.join();
}

}  // namespace runnel::modules::tickets

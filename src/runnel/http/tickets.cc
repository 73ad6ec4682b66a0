#include "runnel/http/tickets.h"

#include <boost/asio/post.hpp>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <string_view>
#include <utility>

#include "runnel/base/log.h"
#include "runnel/base/sleep.h"
#include "runnel/core/text.h"
#include "runnel/http/base64url.h"

namespace runnel::http {

namespace asio = boost::asio;
using store::Async;

namespace {

// base/log.cc knows it too, and keeps what begins like this out of the log.
constexpr std::string_view kPrefix = "tkt_";
constexpr std::size_t kSecretBytes = 32;
constexpr std::size_t kTicketLength = kPrefix.size() + (kSecretBytes * 4 + 2) / 3;
constexpr std::chrono::milliseconds kRenewInterval{60'000};
static_assert(kRenewInterval.count() * 2 < store::kTicketReuseMs);

constexpr std::int64_t kNeverMs = std::numeric_limits<std::int64_t>::max();

Result<std::string> random_ticket() {
  std::array<unsigned char, kSecretBytes> secret{};
  if (RAND_bytes(secret.data(), static_cast<int>(secret.size())) != 1) {
    return Error{Errc::unavailable, "the system gives no random bytes"};
  }
  return std::string{kPrefix} +
         base64url_encode({reinterpret_cast<char const*>(secret.data()), secret.size()});
}

// Whether it is worth asking the store.
bool looks_like_a_ticket(std::string_view text) {
  return text.size() == kTicketLength && text.starts_with(kPrefix);
}

// A token without a known end, or with one beyond all reckoning, sets none.
std::int64_t end_of_token_ms(std::int64_t expires_at_s) {
  return expires_at_s == 0 || expires_at_s > kNeverMs / 1000 ? kNeverMs : expires_at_s * 1000;
}

store::NewTicket new_ticket(TicketOrder order, std::string const& ticket, std::int64_t now) {
  store::NewTicket out;
  out.hash = sha256_hex(ticket);
  out.owner = std::move(order.owner);
  out.kind = order.kind;
  out.thread = std::move(order.thread);
  out.run = std::move(order.run);
  out.expires_at = end_of_token_ms(order.token_expires_at);
  out.now = now;
  return out;
}

store::TicketUse use_for_stream(std::string const& ticket, ThreadId thread, RunId run, std::int64_t now) {
  store::TicketUse out;
  out.hash = sha256_hex(ticket);
  out.kind = store::TicketKind::sse;
  out.thread = std::move(thread);
  out.run = std::move(run);
  out.now = now;
  return out;
}

TicketHolder holder_of(store::UsedTicket const& used, std::string hash) {
  TicketHolder out;
  out.owner = used.owner;
  out.token_expires_at = used.expires_at == kNeverMs ? 0 : used.expires_at / 1000;
  out.ticket_hash = std::move(hash);
  return out;
}

MintedTicket minted(std::string ticket, std::int64_t use_before) {
  return {std::move(ticket), use_before};
}

}  // namespace

// The ticket counts as used while the feed is there.
class Tickets::FeedOnTicket final : public HoldingFeed {
 public:
  FeedOnTicket(Tickets& tickets, std::string hash, std::unique_ptr<EventFeed> feed)
      : HoldingFeed{std::move(feed)}, tickets_{tickets}, hash_{std::move(hash)} {
    tickets_.begin_use(hash_);
  }
  ~FeedOnTicket() override { tickets_.end_use(hash_); }

 private:
  Tickets& tickets_;
  std::string const hash_;
};

Async<MintedTicket> Tickets::mint(TicketOrder order) {
  auto ticket = random_ticket();
  if (!ticket) co_return ticket.error();
  auto row = new_ticket(std::move(order), *ticket, clock_.now_ms());
  auto const use_before = std::min(row.now + store::kTicketFirstUseMs, row.expires_at);
  auto const stored = co_await store_.put_ticket(std::move(row));
  if (!stored) co_return stored.error();
  co_return minted(std::move(*ticket), use_before);
}

Async<UserId> Tickets::owner_of(std::string ticket) {
  if (!looks_like_a_ticket(ticket)) co_return Error{Errc::not_found, "this is no ticket"};
  auto const owner = co_await store_.ticket_owner(sha256_hex(ticket));
  if (!owner) co_return owner.error();
  if (!*owner) co_return Error{Errc::not_found, "an unknown ticket"};
  co_return **owner;
}

Async<TicketHolder> Tickets::open_stream(std::string ticket, ThreadId thread, RunId run) {
  if (!looks_like_a_ticket(ticket)) co_return Error{Errc::not_found, "this is no ticket"};
  auto use = use_for_stream(ticket, std::move(thread), std::move(run), clock_.now_ms());
  auto hash = use.hash;
  auto const used = co_await store_.use_ticket(std::move(use));
  if (!used) co_return used.error();
  co_return holder_of(*used, std::move(hash));
}

std::unique_ptr<EventFeed> Tickets::keep_in_use(std::string ticket_hash, std::unique_ptr<EventFeed> feed) {
  return std::make_unique<FeedOnTicket>(*this, std::move(ticket_hash), std::move(feed));
}

void Tickets::begin_use(std::string const& hash) {
  std::lock_guard const lock{mutex_};
  ++uses_[hash].streams;
}

void Tickets::end_use(std::string const& hash) {
  std::lock_guard const lock{mutex_};
  auto& use = uses_[hash];
  --use.streams;
  use.ended_at = clock_.now_ms();
}

std::vector<store::TicketTouch> Tickets::take_touches() {
  std::lock_guard const lock{mutex_};
  auto const now = clock_.now_ms();
  std::vector<store::TicketTouch> out;
  out.reserve(uses_.size());
  for (auto const& [hash, use] : uses_)
    out.push_back({hash, use.streams > 0 ? now : use.ended_at});
  std::erase_if(uses_, [](auto const& item) { return item.second.streams == 0; });
  // In one order on all nodes, so that two of them never wait for each other's rows.
  std::sort(out.begin(), out.end(), [](auto const& a, auto const& b) { return a.hash < b.hash; });
  return out;
}

Async<void> Tickets::renew() {
  auto touches = take_touches();
  if (touches.empty()) co_return Result<void>{};
  auto const renewed = co_await store_.touch_tickets(touches);
  if (!renewed) give_back(touches);
  co_return renewed;
}

// What the store could not be told, it is told the next time.
void Tickets::give_back(std::vector<store::TicketTouch> const& touches) {
  std::lock_guard const lock{mutex_};
  auto const too_old = clock_.now_ms() - store::kTicketReuseMs;
  for (auto const& touch : touches) {
    if (touch.at <= too_old) continue;
    auto& use = uses_[touch.hash];
    use.ended_at = std::max(use.ended_at, touch.at);
  }
}

void Tickets::start_renewing(base::Cores& cores) {
  cores_ = &cores;
  tasks_.spawn(cores.at(0).get_executor(), "renew tickets", keep_renewing());
}

asio::awaitable<void> Tickets::keep_renewing() {
  bool go_on = true;
  while (go_on) {
    go_on = co_await base::sleep_for(kRenewInterval, cancel_);
    auto const renewed = co_await renew();
    if (!renewed) {
      base::log(base::LogLevel::warn, "tickets in use were not renewed",
                {{"detail", renewed.error().detail}});
    }
  }
}

void Tickets::stop() {
  if (cores_ == nullptr) return;
  asio::post(cores_->at(0), [cancel = cancel_] { cancel->request(base::CancelReason::shutdown); });
  tasks_.join();
}

}  // namespace runnel::http

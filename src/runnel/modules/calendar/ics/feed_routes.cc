#include "runnel/modules/calendar/ics/feed_routes.h"

#include <openssl/rand.h>

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runnel/api/problem.h"
#include "runnel/core/json/write.h"
#include "runnel/core/text/base64url.h"
#include "runnel/core/text/sha256.h"
#include "runnel/core/time/instant.h"
#include "runnel/modules/calendar/ics/calendar_text.h"
#include "runnel/modules/calendar/ics/file_rows.h"

namespace runnel::modules::calendar {

namespace asio = boost::asio;

namespace {

constexpr char kFeeds[] = "/api/v1/calendar/feeds/";
// base/log/log_redact.cc also knows this prefix, and keeps texts that begin with it out of the log.
constexpr std::string_view kPrefix = "cal_";
constexpr std::string_view kSuffix = ".ics";
constexpr std::size_t kSecretBytes = 32;
constexpr std::size_t kSecretLength = kPrefix.size() + (kSecretBytes * 4 + 2) / 3;
constexpr std::int64_t kPastDays = 366;
constexpr std::size_t kPageEvents = 100;
// The text of the largest feed, and a page of its events.
constexpr std::size_t kFeedAnswer = kMostFeedBytes + std::size_t{1024} * 1024;
// How many addresses are looked up at once. A flood of wrong ones waits for itself and not before other reads
// of the store.
constexpr int kMostLookups = 16;

struct FeedRoutes {
  Context context;
  base::FairPool* pool;
  FileRows rows;
};

using HandleFeed = asio::awaitable<api::Reply> (*)(FeedRoutes, api::Request);

// A place among the lookups, for as long as it exists. Tells whether there was one.
class Lookup {
 public:
  explicit Lookup(std::shared_ptr<std::atomic<int>> count) : count_{std::move(count)}, place_{++*count_} {}
  Lookup(Lookup const&) = delete;
  Lookup& operator=(Lookup const&) = delete;
  ~Lookup() { --*count_; }

  [[nodiscard]] bool granted() const { return place_ <= kMostLookups; }

 private:
  std::shared_ptr<std::atomic<int>> count_;
  int place_;
};

Result<std::string> random_secret() {
  std::array<unsigned char, kSecretBytes> secret{};
  if (RAND_bytes(secret.data(), static_cast<int>(secret.size())) != 1)
    return Error{Errc::unavailable, "the system gives no random bytes"};
  return std::string{kPrefix} +
         base64url_encode({reinterpret_cast<char const*>(secret.data()), secret.size()});
}

// The secret in the last segment of an address. Empty if the segment does not have the form of one, so that
// the store need not be asked.
std::string secret_in(api::Pairs const& params) {
  std::string_view segment = params.empty() ? std::string_view{} : params.front().second;
  if (!segment.ends_with(kSuffix)) return {};
  segment.remove_suffix(kSuffix.size());
  if (segment.size() != kSecretLength || !segment.starts_with(kPrefix)) return {};
  return std::string{segment};
}

asio::awaitable<Result<UserId>> owner_of_feed(FileRows rows, std::shared_ptr<std::atomic<int>> lookups,
                                              api::Pairs params) {
  auto const secret = secret_in(params);
  if (secret.empty()) co_return Error{Errc::not_found, "the address is not that of a feed"};
  Lookup const lookup{std::move(lookups)};
  if (!lookup.granted()) co_return Error{Errc::unavailable, "too many addresses of feeds are looked up"};
  auto owner = co_await rows.feed_owner(sha256_hex(secret));
  if (!owner) co_return owner.error();
  if (!*owner) co_return Error{Errc::not_found, "there is no such feed"};
  co_return std::move(**owner);
}

api::Response shown_feed(std::optional<std::int64_t> since) {
  std::string body;
  JsonObject object{body};
  object.boolean("active", since.has_value());
  if (since) object.text("created_at", to_rfc3339(*since));
  object.close();
  return api::json_response(200, std::move(body));
}

api::Response new_feed(std::string const& secret, std::int64_t now_ms) {
  std::string body;
  JsonObject{body}
      .text("address", kFeeds + secret + std::string{kSuffix})
      .text("created_at", to_rfc3339(now_ms))
      .close();
  return api::json_response(201, std::move(body));
}

asio::awaitable<api::Reply> show_feed_route(FeedRoutes routes, api::Request request) {
  auto const since = co_await routes.rows.feed_since(request.user);
  if (!since) co_return api::problem_from(since.error(), request.request_id);
  co_return shown_feed(*since);
}

asio::awaitable<api::Reply> make_feed_route(FeedRoutes routes, api::Request request) {
  auto const secret = random_secret();
  if (!secret) co_return api::problem_from(secret.error(), request.request_id);
  auto const now = routes.context.clock.now_ms();
  auto const put = co_await routes.rows.put_feed(request.user, sha256_hex(*secret), now);
  if (!put) co_return api::problem_from(put.error(), request.request_id);
  co_return new_feed(*secret, now);
}

asio::awaitable<api::Reply> end_feed_route(FeedRoutes routes, api::Request request) {
  auto const removed = co_await routes.rows.remove_feed(request.user);
  if (!removed) co_return api::problem_from(removed.error(), request.request_id);
  co_return api::empty_response(204);
}

// What is over for longer is left out. Whole days, so that the text stays the same over a day.
std::int64_t first_instant(std::int64_t now_ms) {
  return now_ms - now_ms % kDayMs - kPastDays * kDayMs;
}

using Text = std::shared_ptr<CalendarText>;

// Plain functions, because g++ 12 mishandles such captures inside coroutines (CONTRIBUTING.md).
std::function<Result<bool>()> adding(Text text, std::vector<ExportedEvent> events) {
  auto shared = std::make_shared<std::vector<ExportedEvent> const>(std::move(events));
  return [text = std::move(text), shared]() -> Result<bool> { return text->add(*shared); };
}

struct FeedText {
  std::string text;
  std::string tag;
};

std::function<Result<FeedText>()> finishing(Text text) {
  return [text = std::move(text)]() -> Result<FeedText> {
    FeedText out{text->finish(), {}};
    out.tag = '"' + sha256_hex(out.text).substr(0, 32) + '"';
    return out;
  };
}

// Reads the events of one part and makes text of them, page by page. False if there was no room for all.
store::Async<bool> add_part(FeedRoutes routes, UserId user, Part part, std::int64_t since, Text text) {
  PageEnd end;
  for (;;) {
    auto page = co_await routes.rows.page(user, part, since, std::move(end), kPageEvents);
    if (!page) co_return page.error();
    if (page->events.empty()) co_return true;
    bool const is_last = page->events.size() < kPageEvents;
    end = std::move(page->end);
    auto const added = co_await routes.pool->run<bool>(user.text, adding(text, std::move(page->events)));
    if (!added) co_return added.error();
    if (!*added || is_last) co_return *added;
  }
}

store::Async<FeedText> make_text(FeedRoutes routes, UserId user) {
  auto const text = std::make_shared<CalendarText>();
  auto const since = first_instant(routes.context.clock.now_ms());
  for (auto const part : {Part::own_series, Part::own_events, Part::accepted_series, Part::accepted_events}) {
    auto const added = co_await add_part(routes, user, part, since, text);
    if (!added) co_return added.error();
    if (!*added) break;
  }
  auto made = co_await routes.pool->run<FeedText>(user.text, finishing(text));
  co_return made;
}

// Whether one of the tags of an If-None-Match is this one.
bool names_tag(std::string_view header, std::string_view tag) {
  return header == "*" || header.find(tag) != std::string_view::npos;
}

api::Response feed_response(api::Request const& request, FeedText made) {
  bool const is_known = names_tag(request.header("If-None-Match").value_or(""), made.tag);
  api::Response out;
  out.status = is_known ? 304 : 200;
  out.headers = {{"ETag", made.tag}, {"Cache-Control", "private, no-cache"}};
  if (is_known) return out;
  out.content_type = "text/calendar; charset=utf-8";
  out.body = std::move(made.text);
  return out;
}

asio::awaitable<api::Reply> read_feed_route(FeedRoutes routes, api::Request request) {
  auto made = co_await make_text(routes, request.user);
  if (!made) co_return api::problem_from(made.error(), request.request_id);
  co_return feed_response(request, std::move(*made));
}

}  // namespace

void add_feed_routes(api::Router& router, Context const& context, base::FairPool& pool) {
  FeedRoutes const routes{context, &pool, FileRows{context.sql}};
  auto const with = [routes](HandleFeed handle) -> api::Handler {
    return [routes, handle](api::Request request) { return handle(routes, std::move(request)); };
  };
  auto const lookups = std::make_shared<std::atomic<int>>(0);
  auto const owner_of = [routes, lookups](api::Pairs params) {
    return owner_of_feed(routes.rows, lookups, std::move(params));
  };
  std::string const feed = "/api/v1/calendar/feed";
  router.add(api::Method::get, feed, api::Access::user, with(&show_feed_route));
  router.add(api::Method::post, feed, api::Access::user, with(&make_feed_route));
  router.add(api::Method::del, feed, api::Access::user, with(&end_feed_route));
  router.add(api::Method::get, std::string{kFeeds} + "{feed}", api::Access::path_secret,
             with(&read_feed_route), {.answer_bytes = kFeedAnswer, .owner_of = owner_of});
}

}  // namespace runnel::modules::calendar

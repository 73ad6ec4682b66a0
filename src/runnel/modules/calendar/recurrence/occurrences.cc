#include "runnel/modules/calendar/recurrence/occurrences.h"

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <deque>
#include <iterator>
#include <utility>

#include "runnel/modules/calendar/recurrence/recurrence.h"

namespace runnel::modules::calendar {

using store::Async;

namespace {

// After so many steps, at most 0.2 ms, others have their turn.
constexpr std::int64_t kStepsAtOnce = 10'000;

// So many series are read at once: with 500 exceptions each, half a megabyte that takes 0.4 ms.
constexpr std::size_t kSeriesAtOnce = 64;

// An occurrence of the series. Events have long texts, so they are made only for what is shown.
struct Found {
  std::int64_t start_at = 0;
  Event const* series = nullptr;
};

class Merge {
 public:
  Merge(std::vector<Event> singles, Search const& search) : events_{std::move(singles)}, search_{search} {
    std::erase_if(events_, [&](Event const& event) { return event.id == search_.except_id; });
  }

  // Whether more series change nothing.
  [[nodiscard]] bool is_full() const {
    return search_.beyond == Beyond::any && events_.size() + found_.size() >= search_.limit;
  }

  // Expands some of the series, from the one with the number `next` on, and returns the number of the first
  // one that is left.
  std::size_t expand(std::vector<Event> const& series, std::size_t next) {
    for (std::int64_t steps = 0; steps < kStepsAtOnce && next < series.size() && !is_full(); ++next)
      steps += 1 + add(series[next]);
    keep_first_ones();
    return next;
  }

  std::vector<Event> take() {
    for (auto const& found : found_)
      events_.push_back(without_exdates(occurrence_of(*found.series, found.start_at)));
    std::sort(events_.begin(), events_.end(), [](Event const& a, Event const& b) {
      return a.span.start_at != b.span.start_at ? a.span.start_at < b.span.start_at : a.id < b.id;
    });
    // A series that is changed between two pages may be in both.
    auto const repeated = std::unique(events_.begin(), events_.end(), [](Event const& a, Event const& b) {
      return a.span.start_at == b.span.start_at && a.id == b.id;
    });
    events_.erase(repeated, events_.end());
    if (events_.size() > search_.limit) events_.resize(search_.limit);
    return std::move(events_);
  }

 private:
  // Returns how many steps it took.
  std::int64_t add(Event const& series) {
    if (series.id == search_.except_id) return 0;
    auto const expanded =
        occurrences_in(series, series.all_day ? search_.window.dates : search_.window.time, search_.limit);
    if (expanded.starts.empty()) return expanded.steps;
    auto const* const kept = keep(series);
    for (auto const start : expanded.starts)
      found_.push_back({start, kept});
    return expanded.steps;
  }

  // The series for as long as the merge lasts. A page of them goes before.
  Event const* keep(Event const& series) {
    if (search_.series) return &series;
    return &kept_.emplace_back(without_exdates(series));
  }

  static Event without_exdates(Event event) {
    event.exdates = {};
    return event;
  }

  void keep_first_ones() {
    if (found_.size() <= search_.limit) return;
    std::sort(found_.begin(), found_.end(), [&](Found const& a, Found const& b) {
      return a.start_at != b.start_at ? a.start_at < b.start_at : a.series->id < b.series->id;
    });
    found_.resize(search_.limit);
  }

  std::vector<Event> events_;
  Search search_;
  std::deque<Event> kept_;  // Series of pages that have an occurrence. A deque does not move them.
  std::vector<Found> found_;
};

// Reads the user's series, and then those of others.
class SeriesPages {
 public:
  SeriesPages(Repository repository, UserId user, Window window, Reading how)
      : repository_{repository}, user_{std::move(user)}, window_{window}, how_{how} {}

  [[nodiscard]] bool is_done() const { return is_done_; }

  Async<std::vector<Event>> next() {
    auto found = co_await read();
    if (found) note(*found);
    co_return found;
  }

 private:
  Async<std::vector<Event>> read() {
    if (is_own_) return repository_.own_series(user_, window_, how_, after_, kSeriesAtOnce);
    return repository_.invited_series(user_, window_, how_, after_, room());
  }

  [[nodiscard]] std::size_t room() const {
    return std::min(kSeriesAtOnce, static_cast<std::size_t>(kMostSeries) - invited_);
  }

  void note(std::vector<Event> const& page) {
    auto const asked = is_own_ ? kSeriesAtOnce : room();
    if (!is_own_) invited_ += page.size();
    if (page.size() == asked && room() > 0) {
      auto const& last = page.back();
      after_ = {last.invite_status, last.series_end_at, is_own_ ? last.id : last.invite_id};
      return;
    }
    is_done_ = !is_own_;
    is_own_ = false;
    after_ = {};
  }

  Repository repository_;
  UserId user_;
  Window window_;
  Reading how_;
  SeriesPlace after_;
  std::size_t invited_ = 0;
  bool is_own_ = true;
  bool is_done_ = false;
};

}  // namespace

namespace {

// Plain functions, because g++ 12 mishandles braces inside coroutines (CONTRIBUTING.md).
SeriesPages all_series(Repository repository, UserId const& user, Pending pending) {
  return {repository, user, Window{{0, kLastMs}, {0, kLastMs}}, Reading{pending, 0}};
}

SeriesPages series_in(Repository repository, Search const& search) {
  return {repository, search.user, search.window, search.how};
}

}  // namespace

Async<SeriesList> load_series(Repository repository, UserId user, Pending pending) {
  std::vector<Event> all;
  for (auto pages = all_series(repository, user, pending); !pages.is_done();) {
    auto page = co_await pages.next();
    if (!page) co_return page.error();
    std::move(page->begin(), page->end(), std::back_inserter(all));
  }
  co_return std::make_shared<std::vector<Event> const>(std::move(all));
}

boost::asio::awaitable<void> let_others_run() {
  co_await boost::asio::post(co_await boost::asio::this_coro::executor, boost::asio::use_awaitable);
}

Async<std::vector<Event>> events_in(Repository repository, Search search) {
  // One more, because one may be left out.
  auto singles = co_await repository.overlapping(search.user, search.window, search.limit + 1, search.how);
  if (!singles) co_return singles.error();
  Merge merge{std::move(*singles), search};
  auto pages = series_in(repository, search);
  while (!merge.is_full() && !pages.is_done()) {
    auto series = search.series;
    if (!series) {
      auto page = co_await pages.next();
      if (!page) co_return page.error();
      series = std::make_shared<std::vector<Event> const>(std::move(*page));
    }
    for (std::size_t next = 0; next < series->size() && !merge.is_full();) {
      next = merge.expand(*series, next);
      if (next < series->size()) co_await let_others_run();
    }
    if (search.series) break;
  }
  co_return merge.take();
}

}  // namespace runnel::modules::calendar

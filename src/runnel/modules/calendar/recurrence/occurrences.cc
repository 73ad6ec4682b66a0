#include "runnel/modules/calendar/recurrence/occurrences.h"

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <utility>

#include "runnel/modules/calendar/recurrence/recurrence.h"

namespace runnel::modules::calendar {

using store::Async;

namespace {

// After so many steps, about a millisecond, others have their turn.
constexpr std::int64_t kStepsAtOnce = 10'000;

// An occurrence of the series with this number. Events have long texts, so they are made only for what is
// shown.
struct Found {
  std::int64_t start_at = 0;
  std::size_t series = 0;
};

class Merge {
 public:
  Merge(std::vector<Event> singles, SeriesList series, Search search)
      : events_{std::move(singles)}, series_{std::move(series)}, search_{std::move(search)} {
    std::erase_if(events_, [&](Event const& event) { return event.id == search_.except_id; });
  }

  [[nodiscard]] bool is_done() const {
    bool const is_full = events_.size() + found_.size() >= search_.limit;
    return next_ == series_->size() || (is_full && search_.beyond == Beyond::any);
  }

  // Expands some series.
  void go_on() {
    for (std::int64_t steps = 0; steps < kStepsAtOnce && !is_done(); ++next_) {
      auto const& series = series_->at(next_);
      ++steps;
      if (series.id == search_.except_id) continue;
      auto const expanded =
          occurrences_in(series, series.all_day ? search_.window.dates : search_.window.time, search_.limit);
      for (auto const start : expanded.starts)
        found_.push_back({start, next_});
      steps += expanded.steps;
    }
    keep_first_ones();
  }

  std::vector<Event> take() {
    for (auto const& found : found_)
      events_.push_back(occurrence_of(series_->at(found.series), found.start_at));
    std::sort(events_.begin(), events_.end(), [](Event const& a, Event const& b) {
      return a.span.start_at != b.span.start_at ? a.span.start_at < b.span.start_at : a.id < b.id;
    });
    if (events_.size() > search_.limit) events_.resize(search_.limit);
    return std::move(events_);
  }

 private:
  void keep_first_ones() {
    if (found_.size() <= search_.limit) return;
    std::sort(found_.begin(), found_.end(), [&](Found const& a, Found const& b) {
      return a.start_at != b.start_at ? a.start_at < b.start_at
                                      : series_->at(a.series).id < series_->at(b.series).id;
    });
    found_.resize(search_.limit);
  }

  std::vector<Event> events_;
  SeriesList series_;
  Search search_;
  std::size_t next_ = 0;
  std::vector<Found> found_;
};

}  // namespace

namespace {

// A plain function, because g++ 12 mishandles braces inside coroutines (CONTRIBUTING.md).
Reading without_descriptions(Pending pending) {
  return {pending, 0};
}

}  // namespace

Async<SeriesList> load_series(Repository repository, UserId user, Pending pending) {
  Window const always{{0, kLastMs}, {0, kLastMs}};
  auto found = co_await repository.series(user, always, without_descriptions(pending));
  if (!found) co_return found.error();
  co_return std::make_shared<std::vector<Event> const>(std::move(*found));
}

boost::asio::awaitable<void> let_others_run() {
  co_await boost::asio::post(co_await boost::asio::this_coro::executor, boost::asio::use_awaitable);
}

Async<std::vector<Event>> events_in(Repository repository, Search search) {
  // One more, because one may be left out.
  auto singles = co_await repository.overlapping(search.user, search.window, search.limit + 1, search.how);
  if (!singles) co_return singles.error();
  auto series = search.series;
  if (!series) {
    auto found = co_await repository.series(search.user, search.window, search.how);
    if (!found) co_return found.error();
    series = std::make_shared<std::vector<Event> const>(std::move(*found));
  }
  Merge merge{std::move(*singles), std::move(series), std::move(search)};
  while (!merge.is_done()) {
    merge.go_on();
    if (!merge.is_done()) co_await let_others_run();
  }
  co_return merge.take();
}

}  // namespace runnel::modules::calendar

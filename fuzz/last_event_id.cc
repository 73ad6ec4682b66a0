// A Last-Event-ID for a run of three epochs that is running, ended or expired.

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>
#include <variant>

#include "fuzz/target.h"
#include "runnel/http/routes/resume_point.h"

namespace {

using namespace runnel;
using http::AlreadyComplete;
using http::BadEventId;
using http::ResumeAfter;

store::RunRow run_with(store::RunStatus status) {
  store::RunRow run;
  run.status = status;
  run.last_n = 30;
  run.epochs = {{5, 1}, {9, 11}, {1'800'000'000'000, 21}};
  return run;
}

// The first number of an epoch and the one after its last. Empty if the run had no such epoch.
struct Range {
  std::uint64_t first;
  std::uint64_t end;
};
std::optional<Range> range_of(store::RunRow const& run, Epoch epoch) {
  for (auto start = run.epochs.begin(); start != run.epochs.end(); ++start) {
    if (start->epoch != epoch) continue;
    bool const sealed = std::next(start) != run.epochs.end();
    bool const ended = store::is_ended(run.status);
    return Range{start->first_n, sealed ? std::next(start)->first_n : ended ? run.last_n + 1 : UINT64_MAX};
  }
  return std::nullopt;
}

void check(store::RunRow const& run, std::string_view text) {
  auto const point = http::resume_point(run, text);
  if (std::holds_alternative<BadEventId>(point)) return;

  auto const given = parse_position(text);
  require(given.has_value(), "an accepted id has the form of an id");
  require(to_string(*given) == text, "an id has one form");
  auto const range = range_of(run, given->epoch);
  require(range.has_value(), "the run had the epoch");
  require(given->n >= range->first, "the number is not from before the epoch");
  bool const newest = given->epoch == run.epochs.back().epoch;
  if (newest && store::is_ended(run.status)) require(given->n < range->end, "nothing is beyond an ended run");
  if (std::holds_alternative<AlreadyComplete>(point)) {
    require(store::is_ended(run.status) && given->n == run.last_n,
            "a reader is complete if it has the terminal event");
  }
  if (auto const* after = std::get_if<ResumeAfter>(&point)) {
    require(after->position <= *given, "nothing after the id is skipped");
    require(after->position.epoch == given->epoch, "the position is in the epoch of the id");
    require(after->position.n < range->end, "reading continues at the next epoch's first fact at the latest");
    require(given->n >= range->end || after->position == *given, "an id of the log is the position itself");
  }
}

}  // namespace

RUNNEL_FUZZ_TARGET(last_event_id) {
  static store::RunRow const running = run_with(store::RunStatus::running);
  static store::RunRow const ended = run_with(store::RunStatus::completed);
  static store::RunRow const expired = [] {
    auto run = run_with(store::RunStatus::completed);
    run.log_expired = true;
    return run;
  }();
  std::string_view const text{reinterpret_cast<char const*>(data), size};
  for (auto const* run : {&running, &ended, &expired})
    check(*run, text);
  return 0;
}

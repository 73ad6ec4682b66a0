#include "runnel/http/routes/resume_point.h"

#include <algorithm>

namespace runnel::http {

Position within_sealed_epoch(store::RunRow const& run, Position position) {
  auto const next = std::find_if(run.epochs.begin(), run.epochs.end(), [&](store::EpochStart const& start) {
    return start.epoch > position.epoch;
  });
  if (next != run.epochs.end()) position.n = std::min(position.n, next->first_n - 1);
  return position;
}

namespace {

ResumePoint place_in_log(store::RunRow const& run, Position last) {
  auto const epoch = std::find_if(run.epochs.begin(), run.epochs.end(),
                                  [&](store::EpochStart const& start) { return start.epoch == last.epoch; });
  if (epoch == run.epochs.end()) return BadEventId{"was not sent by this run"};
  if (last.n < epoch->first_n) return BadEventId{"was not sent by this run"};

  bool const sealed = std::next(epoch) != run.epochs.end();
  if (sealed) return ResumeAfter{within_sealed_epoch(run, last)};
  if (!store::is_ended(run.status)) return ResumeAfter{last};
  if (last.n > run.last_n) return BadEventId{"lies beyond the end of the run"};
  if (last.n == run.last_n) return AlreadyComplete{};
  return ResumeAfter{last};
}

}  // namespace

ResumePoint resume_point(store::RunRow const& run, std::optional<std::string_view> last_event_id) {
  ResumePoint point = ResumeAfter{};
  if (last_event_id) {
    auto const last = parse_position(*last_event_id);
    if (!last) return BadEventId{"is not an event id"};
    point = place_in_log(run, *last);
  }
  bool const reads_log = std::holds_alternative<ResumeAfter>(point);
  if (reads_log && run.log_expired) return EventsExpired{};
  return point;
}

}  // namespace runnel::http

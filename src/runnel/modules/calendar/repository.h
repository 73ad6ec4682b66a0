#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runnel/core/ids.h"
#include "runnel/store/sql.h"

namespace runnel::modules::calendar {

// No event lasts longer than 366 days.
inline constexpr std::int64_t kLongestSpanMs = std::int64_t{366} * 24 * 60 * 60 * 1000;
// The last millisecond of the year 9999. No event ends later, and none starts before 1970.
inline constexpr std::int64_t kLastMs = 253'402'300'799'999;

// A half-open span of time in UNIX milliseconds: `end_at` is not part of it.
struct Span {
  std::int64_t start_at = 0;
  std::int64_t end_at = 0;
};

struct Event {
  std::string id;
  std::string title;
  Span span;
  std::string timezone;     // A name in the IANA database.
  std::string location;     // Empty if there is none.
  std::string description;  // Empty if there is none.
};

// Adds the event to the owner's calendar. The statement can be repeated: an event with this id and owner
// stays as it is. The write fails with `conflict` if another user has an event with this id, and with
// `invalid` if the event is not one that the table can hold.
store::SqlStatement add_event(UserId const& owner, Event const& event, std::int64_t now_ms);

class Repository {
 public:
  explicit Repository(store::Sql& sql) : sql_{&sql} {}

  // The owner's events that have a part in the span, by start and then by id; at most `limit`. Two spans that
  // only touch have no part in each other, and an empty span has no events.
  store::Async<std::vector<Event>> overlapping(UserId owner, Span span, std::size_t limit);

  // Empty if the owner has no event with this id.
  store::Async<std::optional<Event>> find(UserId owner, std::string id);

 private:
  store::Sql* sql_;
};

}  // namespace runnel::modules::calendar

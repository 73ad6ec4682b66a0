#include "runnel/modules/calendar/ics/zone_component.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <vector>

#include "runnel/core/time/zone.h"
#include "runnel/modules/calendar/ics/values.h"

namespace runnel::modules::calendar {

namespace {

using std::chrono::local_seconds;
using std::chrono::year_month_day;
using std::chrono::year_month_weekday;

// 2038-01-01T00:00:00Z.
constexpr std::int64_t kEndMs = 2'145'916'800'000;
constexpr int kLastYear = 2037;
// No zone changes its clocks more often from 1970 on.
constexpr std::size_t kMostChanges = 400;
// So many years of a rule make it one.
constexpr std::size_t kFewestYears = 3;

// A change of the clocks.
struct Change {
  local_seconds at;  // What the clocks show before it.
  std::int64_t from = 0;
  std::int64_t to = 0;
  bool to_summer = false;
  std::string name;
};

// All changes between the same two offsets.
using Observance = std::vector<Change>;

bool is_same_kind(Change const& a, Change const& b) {
  return a.from == b.from && a.to == b.to && a.to_summer == b.to_summer && a.name == b.name;
}

Change change_at(std::int64_t ms, std::int64_t from, ZoneOffset const& to) {
  return {in_utc(ms) + std::chrono::seconds{from}, from, to.seconds, to.is_summer, to.name};
}

// The offset at `first_ms` counts as a change, too: the one before, or one in 1970.
std::vector<Change> changes_of(Zone const& zone, std::int64_t first_ms) {
  std::vector<Change> out;
  auto offset = zone.offset_at(first_ms);
  auto const before = offset.begins_at > 0 ? zone.offset_at(offset.begins_at - 1).seconds : offset.seconds;
  out.push_back(change_at(std::max<std::int64_t>(offset.begins_at, 0), before, offset));
  while (offset.ends_at < kEndMs && out.size() < kMostChanges) {
    auto const next = zone.offset_at(offset.ends_at);
    out.push_back(change_at(offset.ends_at, offset.seconds, next));
    offset = next;
  }
  return out;
}

std::vector<Observance> by_kind(std::vector<Change> const& changes) {
  std::vector<Observance> out;
  for (auto const& change : changes) {
    auto const known = std::find_if(out.begin(), out.end(), [&](Observance const& observance) {
      return is_same_kind(observance.front(), change);
    });
    (known == out.end() ? out.emplace_back() : *known).push_back(change);
  }
  return out;
}

// On which day of each year the clocks change: the second Sunday of March, or the last one.
struct YearlyRule {
  std::chrono::month month;
  std::chrono::weekday weekday;
  int place = 0;  // 1 to 4, or -1 for the last one.
  std::chrono::seconds time{};
};

std::chrono::local_days day_of(Change const& change) {
  return std::chrono::floor<std::chrono::days>(change.at);
}

bool is_last_of_month(std::chrono::local_days day) {
  return year_month_day{day}.month() != year_month_day{day + std::chrono::days{7}}.month();
}

YearlyRule rule_of(Change const& change, int place) {
  auto const day = day_of(change);
  return {year_month_day{day}.month(), std::chrono::weekday{day}, place, change.at - day};
}

bool follows(Change const& change, YearlyRule const& rule) {
  auto const day = day_of(change);
  year_month_weekday const date{day};
  bool const in_place =
      rule.place < 0 ? is_last_of_month(day) : date.index() == static_cast<unsigned>(rule.place);
  return in_place && date.month() == rule.month && date.weekday() == rule.weekday &&
         change.at - day == rule.time;
}

int year_of(Change const& change) {
  return static_cast<int>(year_month_day{day_of(change)}.year());
}

// From which change on the rule holds each year until the last one that is known.
std::size_t holds_from(Observance const& changes, YearlyRule const& rule) {
  auto from = changes.size();
  while (from > 0 && follows(changes[from - 1], rule) &&
         year_of(changes[from - 1]) == kLastYear - static_cast<int>(changes.size() - from))
    --from;
  return from;
}

struct Tail {
  std::size_t from = 0;
  YearlyRule rule;
};

// The rule that holds longest at the end, if one does.
std::optional<Tail> yearly_tail(Observance const& changes) {
  std::optional<Tail> best;
  for (int const place : {1, 2, 3, 4, -1}) {
    auto const rule = rule_of(changes.back(), place);
    auto const from = holds_from(changes, rule);
    bool const is_rule = changes.size() - from >= kFewestYears;
    if (is_rule && (!best || from < best->from)) best = Tail{from, rule};
  }
  return best;
}

std::string offset_text(std::int64_t seconds) {
  auto const size = std::abs(seconds);
  auto out = fmt::format("{}{:02}{:02}", seconds < 0 ? '-' : '+', size / 3600, size / 60 % 60);
  if (size % 60 != 0) out += fmt::format("{:02}", size % 60);
  return out;
}

std::string rule_text(YearlyRule const& rule) {
  static constexpr char const* kDays[] = {"SU", "MO", "TU", "WE", "TH", "FR", "SA"};
  return fmt::format("RRULE:FREQ=YEARLY;BYMONTH={};BYDAY={}{}\r\n", static_cast<unsigned>(rule.month),
                     rule.place, kDays[rule.weekday.c_encoding()]);
}

// `extra` are further lines: when else it happens.
void append_observance(std::string& out, Change const& first, std::string const& extra) {
  auto const* const kind = first.to_summer ? "DAYLIGHT" : "STANDARD";
  out += fmt::format(
      "BEGIN:{0}\r\nDTSTART:{1}\r\nTZOFFSETFROM:{2}\r\nTZOFFSETTO:{3}\r\nTZNAME:{4}\r\n{5}END:{0}\r\n", kind,
      date_time_text(first.at), offset_text(first.from), offset_text(first.to), first.name, extra);
}

void append_changes(std::string& out, Observance const& changes, std::size_t count) {
  if (count == 0) return;
  std::string others;
  for (std::size_t i = 1; i < count; ++i)
    others += "RDATE:" + date_time_text(changes[i].at) + "\r\n";
  append_observance(out, changes.front(), others);
}

}  // namespace

std::string zone_component(std::string const& zone, std::int64_t first_ms) {
  auto const found = Zone::find(zone);
  if (!found) return {};
  auto out = fmt::format("BEGIN:VTIMEZONE\r\nTZID:{0}\r\nX-LIC-LOCATION:{0}\r\n", zone);
  for (auto const& changes : by_kind(changes_of(*found, first_ms))) {
    auto const tail = yearly_tail(changes);
    append_changes(out, changes, tail ? tail->from : changes.size());
    if (tail) append_observance(out, changes[tail->from], rule_text(tail->rule));
  }
  return out += "END:VTIMEZONE\r\n";
}

}  // namespace runnel::modules::calendar

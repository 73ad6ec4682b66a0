#include "runnel/modules/calendar/ics/imported_event.h"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <utility>

#include "runnel/core/text/locale_names.h"
#include "runnel/core/text/text.h"
#include "runnel/core/time/zone.h"
#include "runnel/modules/calendar/ics/values.h"
#include "runnel/modules/calendar/recurrence/recurrence.h"

namespace runnel::modules::calendar {

namespace {

constexpr std::size_t kLongestUid = 255;
constexpr std::size_t kLongestTitle = 200;
constexpr std::size_t kLongestLocation = 200;
constexpr std::size_t kLongestDescription = 4000;
constexpr std::size_t kMostReminders = 5;
constexpr std::int64_t kMostMinutesBefore = 40'320;

// Every step returns what is wrong, or nothing.
using Fault = std::optional<MethodFailure>;

MethodFailure invalid(std::string const& why) {
  return {kInvalidEvent, why};
}

MethodFailure unsupported(std::string const& why) {
  return {kUnsupportedEvent, why};
}

// A time of the file, as an instant in milliseconds.
struct Instant {
  std::int64_t ms = 0;  // A date is counted as if it were in UTC.
  bool is_date = false;
  bool is_floating = false;            // A time without a zone of its own.
  std::string zone;                    // The name of the zone that it is in.
  std::chrono::local_seconds local{};  // As it is written.
};

constexpr std::int64_t kDaySeconds = 24 * 60 * 60;

std::int64_t to_ms(std::chrono::local_seconds local, std::optional<Zone> const& zone) {
  return zone ? zone->instant_of(local) : std::chrono::milliseconds{local.time_since_epoch()}.count();
}

// So many days later at the same time of day, and then so many seconds. Empty if that is out of reach.
// Without days it does not matter which of two hours with the same time of day the start is in.
std::optional<std::int64_t> after(Instant const& start, FileDuration const& duration) {
  if (std::abs(duration.days) > 366 || std::abs(duration.seconds) > 366 * kDaySeconds) return std::nullopt;
  if (duration.days == 0) return start.ms + duration.seconds * 1000;
  auto const zone = start.is_date ? std::nullopt : Zone::find(start.zone);
  return to_ms(start.local + std::chrono::days{duration.days}, zone) + duration.seconds * 1000;
}

// The value of the UNTIL in a rule. Empty if the rule has none.
std::string_view until_in(std::string_view rule) {
  static constexpr std::string_view kName = "UNTIL=";
  while (!rule.empty()) {
    auto const part = rule.substr(0, rule.find(';'));
    if (equal_ignoring_case(part.substr(0, kName.size()), kName)) return part.substr(kName.size());
    rule.remove_prefix(std::min(rule.size(), part.size() + 1));
  }
  return {};
}

// The rule of a start that has no zone: its UNTIL has none either (RFC 5545 3.3.10), and is in that of the
// start.
std::string with_until_in_utc(std::string rule, std::string const& zone) {
  auto const until = until_in(rule);
  auto const time = parse_file_time(until);
  if (!time || time->is_date || time->is_utc) return rule;
  auto const ms = std::min(to_ms(time->local, Zone::find(zone)), kLastMs);
  auto const at = static_cast<std::size_t>(until.data() - rule.data());
  return rule.replace(at, until.size(), date_time_text(in_utc(ms)) + "Z");
}

// Reads one event, property by property.
class EventReader {
 public:
  EventReader(FileEvent const& from, FileZones& zones) : from_{from}, zones_{zones} {}

  std::variant<ImportedEvent, MethodFailure> read();

 private:
  Fault check_kind() const;
  Fault read_uid();
  Fault read_texts();
  Fault read_text(char const* name, std::size_t longest, std::string& into) const;
  Fault read_span();
  Fault choose_hour();
  Fault read_end();
  Fault check_span() const;
  Fault read_zone();
  Fault read_rule();
  Fault check_first_time() const;
  Fault read_exdates();
  Fault read_version();
  void read_reminders();
  std::variant<std::int64_t, MethodFailure> read_exdate(ContentLine const& line, std::string const& text);
  std::variant<Instant, MethodFailure> read_time(ContentLine const& line, std::string const& text);

  FileEvent const& from_;
  FileZones& zones_;
  Instant start_;
  ImportedEvent out_;
};

Fault EventReader::check_kind() const {
  static constexpr std::array kOnce{"UID",      "DTSTART",       "DTEND", "DURATION", "SUMMARY",
                                    "LOCATION", "DESCRIPTION",   "RRULE", "SEQUENCE", "LAST-MODIFIED",
                                    "DTSTAMP",  "RECURRENCE-ID", "STATUS"};
  if (!from_.fault.empty()) return invalid(from_.fault);
  for (auto const* const name : kOnce) {
    if (from_.count(name) > 1) return invalid(std::string{name} + " occurs more than once");
  }
  if (from_.find("RECURRENCE-ID") != nullptr)
    return unsupported("RECURRENCE-ID: a single occurrence of a series cannot be changed here");
  for (auto const* const name : {"RDATE", "EXRULE"}) {
    if (from_.find(name) != nullptr) return unsupported(std::string{name} + " is not supported");
  }
  auto const* const status = from_.find("STATUS");
  if (status != nullptr && equal_ignoring_case(status->value, "CANCELLED"))
    return unsupported("STATUS: the event is cancelled");
  return std::nullopt;
}

Fault EventReader::read_uid() {
  auto const* const line = from_.find("UID");
  if (line == nullptr || is_blank(line->value)) return invalid("UID is missing");
  return read_text("UID", kLongestUid, out_.uid);
}

Fault EventReader::read_text(char const* name, std::size_t longest, std::string& into) const {
  auto const* const line = from_.find(name);
  if (line == nullptr) return std::nullopt;
  into = unescape(line->value);
  if (count_code_points(into) <= longest) return std::nullopt;
  return unsupported(std::string{name} + " has more than " + std::to_string(longest) + " characters");
}

Fault EventReader::read_texts() {
  if (auto fault = read_text("SUMMARY", kLongestTitle, out_.event.title)) return fault;
  if (is_blank(out_.event.title)) return unsupported("SUMMARY is missing or blank");
  if (auto fault = read_text("LOCATION", kLongestLocation, out_.event.location)) return fault;
  return read_text("DESCRIPTION", kLongestDescription, out_.event.description);
}

std::variant<Instant, MethodFailure> EventReader::read_time(ContentLine const& line,
                                                            std::string const& text) {
  auto const time = parse_file_time(text);
  if (!time) return invalid(line.name + " must be a date or a time that exists, in the years 1970 to 9999");
  Instant out;
  out.is_date = time->is_date;
  out.zone = zones_.floating();
  auto const& id = line.tzid;
  out.is_floating = !time->is_date && !time->is_utc && id.empty();
  if (time->is_utc) {
    out.zone = "UTC";
  } else if (!time->is_date && !id.empty()) {
    out.zone = zones_.find(id);
    if (out.zone.empty())
      return unsupported(line.name + ": the time zone \"" +
                         std::string{first_code_points(to_one_line(id), 100)} +
                         "\" is unknown; use a name of the IANA database");
  }
  out.local = time->local;
  out.ms = to_ms(time->local, time->is_date || time->is_utc ? std::nullopt : Zone::find(out.zone));
  return out;
}

Fault EventReader::read_span() {
  auto const* const line = from_.find("DTSTART");
  if (line == nullptr) return invalid("DTSTART is missing");
  auto start = read_time(*line, line->value);
  if (auto* const failure = std::get_if<MethodFailure>(&start)) return std::move(*failure);
  start_ = std::get<Instant>(std::move(start));
  if (auto fault = choose_hour()) return fault;
  out_.event.span.start_at = start_.ms;
  out_.event.all_day = start_.is_date;
  out_.event.timezone = start_.zone;
  if (auto fault = read_end()) return fault;
  return check_span();
}

// A feed says beside a local time that comes twice which instant it is. If the local time of that is another
// one now, some other program has moved the event, and has left this as it was.
Fault EventReader::choose_hour() {
  auto const* const line = from_.find("X-RUNNEL-START");
  if (line == nullptr || start_.is_date) return std::nullopt;
  auto const time = parse_file_time(line->value);
  if (!time || !time->is_utc) return invalid("X-RUNNEL-START must be a time in UTC");
  auto const ms = to_ms(time->local, std::nullopt);
  auto const zone = Zone::find(start_.zone);
  if (zone && zone->to_local(ms) == to_ms(start_.local, std::nullopt)) start_.ms = ms;
  return std::nullopt;
}

Fault EventReader::read_end() {
  auto const* const end = from_.find("DTEND");
  auto const* const length = from_.find("DURATION");
  if (end != nullptr && length != nullptr) return invalid("DTEND and DURATION cannot be used together");
  if (end != nullptr) {
    auto read = read_time(*end, end->value);
    if (auto* const failure = std::get_if<MethodFailure>(&read)) return std::move(*failure);
    if (std::get<Instant>(read).is_date != start_.is_date)
      return invalid("DTSTART and DTEND must both be dates or both be times");
    out_.event.span.end_at = std::get<Instant>(read).ms;
  } else if (length != nullptr) {
    auto const duration = parse_duration(length->value);
    if (!duration) return invalid("DURATION must be a duration, such as PT1H30M");
    auto const ends_at = after(start_, *duration);
    if (!ends_at) return unsupported("the event lasts longer than 366 days");
    out_.event.span.end_at = *ends_at;
  } else if (start_.is_date) {
    out_.event.span.end_at = start_.ms + kDayMs;
  } else {
    return unsupported("DTEND and DURATION are missing: the event would have no length");
  }
  return std::nullopt;
}

Fault EventReader::check_span() const {
  auto const [start, end] = out_.event.span;
  if (end <= start) return invalid("the event must end after it starts");
  if (end - start > kLongestSpanMs) return unsupported("the event lasts longer than 366 days");
  if (start < 0 || end > kLastMs) return unsupported("the event must be in the years 1970 to 9999");
  if (out_.event.all_day && end % kDayMs != 0) return invalid("DURATION must be in whole days for a date");
  return std::nullopt;
}

// A single event is exported in UTC, and its zone beside it.
Fault EventReader::read_zone() {
  auto const* const line = from_.find("X-RUNNEL-TIMEZONE");
  if (line == nullptr || (!out_.event.rrule.empty() && !out_.event.all_day)) return std::nullopt;
  auto zone = unescape(line->value);
  if (!is_zone_name(zone)) return unsupported("X-RUNNEL-TIMEZONE must be a name of the IANA database");
  out_.event.timezone = std::move(zone);
  return std::nullopt;
}

Fault EventReader::read_rule() {
  auto const* const line = from_.find("RRULE");
  if (line == nullptr) return std::nullopt;
  if (line->value.empty()) return unsupported("RRULE: it is empty");
  if (auto fault = check_first_time()) return fault;
  out_.event.rrule = start_.is_floating ? with_until_in_utc(line->value, start_.zone) : line->value;
  if (auto failure = complete_series(out_.event)) return unsupported("RRULE: " + failure->message);
  if (auto fault = read_exdates()) return fault;
  auto const unknown = unknown_exdates(out_.event);
  auto& exdates = out_.event.exdates;
  exdates.erase(std::remove_if(exdates.begin(), exdates.end(),
                               [&](std::int64_t exdate) {
                                 return std::binary_search(unknown.begin(), unknown.end(), exdate);
                               }),
                exdates.end());
  if (!may_have_occurrences(out_.event)) return unsupported("EXDATE leaves no occurrence of the series");
  return std::nullopt;
}

// All occurrences are at the time of day of the first, which must therefore not have been moved out of a gap.
Fault EventReader::check_first_time() const {
  auto const zone = start_.is_date ? std::nullopt : Zone::find(start_.zone);
  if (!zone || zone->to_local(start_.ms) == to_ms(start_.local, std::nullopt)) return std::nullopt;
  return unsupported("DTSTART: the clocks of " + start_.zone +
                     " skip this time, so the time of day of the other occurrences is not known; let the "
                     "event start on another day");
}

// Those that name no occurrence leave nothing out, and are dropped later.
Fault EventReader::read_exdates() {
  auto& exdates = out_.event.exdates;
  for (auto const& line : from_.properties) {
    if (line.name != "EXDATE") continue;
    std::string_view rest = line.value;
    while (!rest.empty()) {
      auto const value = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(rest.size(), value.size() + 1));
      auto const exdate = read_exdate(line, std::string{value});
      if (auto const* const failure = std::get_if<MethodFailure>(&exdate)) return *failure;
      if (exdates.size() == kMostExdates)
        return unsupported("EXDATE has more than " + std::to_string(kMostExdates) + " occurrences");
      exdates.push_back(std::get<std::int64_t>(exdate));
    }
  }
  std::sort(exdates.begin(), exdates.end());
  exdates.erase(std::unique(exdates.begin(), exdates.end()), exdates.end());
  return std::nullopt;
}

// An occurrence whose time is skipped is where recurrence.h puts it, and the first one where it starts.
std::variant<std::int64_t, MethodFailure> EventReader::read_exdate(ContentLine const& line,
                                                                   std::string const& text) {
  auto const read = read_time(line, text);
  if (auto const* const failure = std::get_if<MethodFailure>(&read)) return *failure;
  auto const& time = std::get<Instant>(read);
  if (time.is_date != out_.event.all_day)
    return unsupported("EXDATE and DTSTART must both be dates or both be times");
  if (time.local == start_.local && time.zone == start_.zone) return start_.ms;
  auto const zone = time.is_date ? std::nullopt : Zone::find(time.zone);
  return zone ? zone->to_instant(std::chrono::milliseconds{time.local.time_since_epoch()}.count()) : time.ms;
}

// The first alarms that are so many whole minutes before the start. What else an alarm can be is left out.
void EventReader::read_reminders() {
  std::vector<std::int64_t> minutes;
  for (auto const& trigger : from_.triggers) {
    if (equal_ignoring_case(trigger.related, "END")) continue;
    auto const duration = parse_duration(trigger.value);
    if (!duration || duration->days > 0 || duration->seconds > 0 || duration->seconds % 60 != 0) continue;
    auto const before = -duration->days * 24 * 60 - duration->seconds / 60;
    if (before > kMostMinutesBefore) continue;
    bool const is_new = std::find(minutes.begin(), minutes.end(), before) == minutes.end();
    if (is_new && minutes.size() < kMostReminders) minutes.push_back(before);
  }
  if (minutes.empty()) return;
  out_.event.reminders = boost::json::serialize(boost::json::array(minutes.begin(), minutes.end()));
}

Fault EventReader::read_version() {
  if (auto const* const line = from_.find("SEQUENCE")) {
    auto const sequence = parse_count(line->value);
    if (!sequence) return invalid("SEQUENCE must be a whole number that is not negative");
    out_.sequence = *sequence;
  }
  if (auto const* const line = from_.find("CREATED")) {
    auto const time = parse_file_time(line->value);
    if (time && time->is_utc) out_.created_at = to_ms(time->local, std::nullopt);
  }
  auto const* line = from_.find("LAST-MODIFIED");
  if (line == nullptr) line = from_.find("DTSTAMP");
  if (line == nullptr) return std::nullopt;
  auto const time = parse_file_time(line->value);
  if (!time || !time->is_utc) return invalid(line->name + " must be a time in UTC");
  out_.modified_at = std::chrono::milliseconds{time->local.time_since_epoch()}.count();
  return std::nullopt;
}

std::variant<ImportedEvent, MethodFailure> EventReader::read() {
  if (auto fault = check_kind()) return std::move(*fault);
  for (auto const step : {&EventReader::read_uid, &EventReader::read_texts, &EventReader::read_span,
                          &EventReader::read_rule, &EventReader::read_zone, &EventReader::read_version}) {
    if (auto fault = (this->*step)()) return std::move(*fault);
  }
  read_reminders();
  return std::move(out_);
}

}  // namespace

std::variant<ImportedEvent, MethodFailure> read_file_event(FileEvent const& from, FileZones& zones) {
  return EventReader{from, zones}.read();
}

}  // namespace runnel::modules::calendar

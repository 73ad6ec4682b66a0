#include "runnel/modules/calendar/ics/calendar_file.h"

#include <algorithm>
#include <array>
#include <optional>

#include "runnel/core/text/text.h"

namespace runnel::modules::calendar {

namespace {

constexpr std::size_t kDeepest = 8;
constexpr std::size_t kMostAlarms = 20;
constexpr std::size_t kMostExdateZones = 20;
constexpr std::size_t kMostZones = 200;

constexpr std::array<std::string_view, 19> kUsed{
    "CREATED", "DESCRIPTION",   "DTEND",    "DTSTAMP",        "DTSTART",          "DURATION", "EXDATE",
    "EXRULE",  "LAST-MODIFIED", "LOCATION", "RDATE",          "RECURRENCE-ID",    "RRULE",    "SEQUENCE",
    "STATUS",  "SUMMARY",       "UID",      "X-RUNNEL-START", "X-RUNNEL-TIMEZONE"};

bool is_used(std::string_view name) {
  return std::find(kUsed.begin(), kUsed.end(), name) != kUsed.end();
}

bool has_control_character(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return (c >= 0 && c < ' ' && c != '\t') || c == '\x7f'; });
}

MethodFailure broken(std::int64_t line, std::string const& why) {
  return {kInvalidCalendar, "line " + std::to_string(line) + ": " + why};
}

std::string upper_case(std::string_view text) {
  auto const parsed = parse_content_line(std::string{text} + ":");
  return parsed ? parsed->name : "";
}

// False if there is no room for it.
bool keep_exdate(FileEvent& event, ContentLine line) {
  if (line.value.empty()) return true;
  auto& kept = event.properties;
  auto const same = std::find_if(kept.begin(), kept.end(), [&](ContentLine const& other) {
    return other.name == line.name && other.tzid == line.tzid;
  });
  if (same != kept.end()) {
    same->value += same->value.ends_with(',') ? line.value : "," + line.value;
    return true;
  }
  if (event.count(line.name) == kMostExdateZones) return false;
  kept.push_back(std::move(line));
  return true;
}

bool keep(FileEvent& event, ContentLine line) {
  if (line.name == "EXDATE") return keep_exdate(event, std::move(line));
  if (event.count(line.name) < 2) event.properties.push_back(std::move(line));
  return true;
}

// Reads line after line and knows the components that are open.
class FileReader {
 public:
  explicit FileReader(std::string_view file) : lines_{file} {}

  std::variant<CalendarFile, MethodFailure> read();

 private:
  std::optional<MethodFailure> read_line();
  std::optional<MethodFailure> begin(std::string_view component);
  std::optional<MethodFailure> end(std::string_view component);
  void add_property(std::optional<ContentLine> line);
  [[nodiscard]] std::string fault_of(std::optional<ContentLine> const& line) const;
  void add_to_event(std::optional<ContentLine> line);
  void add_to_alarm(ContentLine line);
  void add_to_zone(ContentLine const& line);

  // Whether the open components are these, from the outermost on.
  [[nodiscard]] bool is_in(std::initializer_list<std::string_view> components) const {
    return std::equal(open_.begin(), open_.end(), components.begin(), components.end());
  }
  [[nodiscard]] bool is_in_alarm() const { return is_in({"VCALENDAR", "VEVENT", "VALARM"}); }

  LineReader lines_;
  CalendarFile file_;
  std::vector<std::string> open_;
  std::string zone_id_;
  std::string location_;
  bool has_calendar_ = false;
  bool has_trigger_ = false;  // The alarm that was begun last.
};

std::optional<MethodFailure> FileReader::begin(std::string_view component) {
  auto name = upper_case(component);
  if (name.empty()) return broken(lines_.number(), "BEGIN must be followed by the name of a component");
  if (open_.size() == kDeepest)
    return broken(lines_.number(), "components may be nested " + std::to_string(kDeepest) + " deep at most");
  if (open_.empty() != (name == "VCALENDAR"))
    return broken(lines_.number(), "a file must consist of VCALENDAR components that are not nested");
  bool const is_event = name == "VEVENT";
  open_.push_back(std::move(name));
  has_calendar_ = true;
  if (is_event && !is_in({"VCALENDAR", "VEVENT"}))
    return broken(lines_.number(), "a VEVENT must stand directly in a VCALENDAR");
  if (is_event && file_.events.size() == kMostFileEvents) {
    return MethodFailure{kTooManyEvents, "the file has more than " + std::to_string(kMostFileEvents) +
                                             " events; import it in parts"};
  }
  if (is_event) file_.events.emplace_back();
  if (is_in_alarm()) has_trigger_ = false;
  return std::nullopt;
}

std::optional<MethodFailure> FileReader::end(std::string_view component) {
  auto const name = upper_case(component);
  if (open_.empty() || open_.back() != name)
    return broken(lines_.number(), "END does not name the component that was begun last");
  bool const is_named = !zone_id_.empty() && !location_.empty() && file_.locations.size() < kMostZones;
  if (name == "VTIMEZONE" && is_named) file_.locations.emplace(zone_id_, location_);
  zone_id_.clear();
  location_.clear();
  open_.pop_back();
  return std::nullopt;
}

// What is wrong with this line of an event. Empty if nothing is.
std::string FileReader::fault_of(std::optional<ContentLine> const& line) const {
  if (!line) return "line " + std::to_string(lines_.number()) + " of the file is not a property";
  if (lines_.is_cut())
    return line->name + " is longer than " + std::to_string(LineReader::kLongest) + " bytes";
  if (!is_utf8(lines_.text())) return line->name + " is not UTF-8";
  if (has_control_character(lines_.text())) return line->name + " has a control character";
  return {};
}

void FileReader::add_to_event(std::optional<ContentLine> line) {
  auto& event = file_.events.back();
  if (!event.fault.empty() || (line && !is_used(line->name))) return;
  auto fault = fault_of(line);
  if (fault.empty() && !keep(event, std::move(*line)))
    fault = "EXDATE has more than " + std::to_string(kMostExdateZones) + " time zones";
  if (!fault.empty()) event = FileEvent{{}, {}, std::move(fault)};
}

// Only the first TRIGGER of an alarm.
void FileReader::add_to_alarm(ContentLine line) {
  auto& event = file_.events.back();
  if (line.name != "TRIGGER" || has_trigger_ || !event.fault.empty()) return;
  has_trigger_ = true;
  if (event.triggers.size() < kMostAlarms) event.triggers.push_back(std::move(line));
}

void FileReader::add_to_zone(ContentLine const& line) {
  if (line.name == "TZID") zone_id_ = unescape(line.value);
  if (line.name == "X-LIC-LOCATION") location_ = unescape(line.value);
}

void FileReader::add_property(std::optional<ContentLine> line) {
  if (is_in({"VCALENDAR", "VEVENT"})) {
    add_to_event(std::move(line));
  } else if (line && is_in_alarm()) {
    add_to_alarm(std::move(*line));
  } else if (line && is_in({"VCALENDAR", "VTIMEZONE"})) {
    add_to_zone(*line);
  }
}

std::optional<MethodFailure> FileReader::read_line() {
  auto line = parse_content_line(lines_.text());
  if (line && line->name == "BEGIN") return begin(line->value);
  if (line && line->name == "END") return end(line->value);
  if (open_.empty()) return broken(lines_.number(), "the file must begin with BEGIN:VCALENDAR");
  add_property(std::move(line));
  return std::nullopt;
}

std::variant<CalendarFile, MethodFailure> FileReader::read() {
  while (lines_.next()) {
    if (auto failure = read_line()) return std::move(*failure);
  }
  if (!has_calendar_) return MethodFailure{kInvalidCalendar, "the file must begin with BEGIN:VCALENDAR"};
  if (!open_.empty()) return MethodFailure{kInvalidCalendar, "the file ends before END:" + open_.back()};
  return std::move(file_);
}

}  // namespace

ContentLine const* FileEvent::find(std::string_view name) const {
  auto const found = std::find_if(properties.begin(), properties.end(),
                                  [&](ContentLine const& line) { return line.name == name; });
  return found == properties.end() ? nullptr : &*found;
}

std::size_t FileEvent::count(std::string_view name) const {
  return static_cast<std::size_t>(std::count_if(properties.begin(), properties.end(),
                                                [&](ContentLine const& line) { return line.name == name; }));
}

std::variant<CalendarFile, MethodFailure> read_calendar_file(std::string_view file) {
  if (file.find('\0') != std::string_view::npos)
    return MethodFailure{kInvalidCalendar, "the file has a NUL character"};
  return FileReader{file}.read();
}

}  // namespace runnel::modules::calendar

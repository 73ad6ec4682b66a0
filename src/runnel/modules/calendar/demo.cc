#include "runnel/modules/calendar/demo.h"

#include <array>
#include <chrono>
#include <string>

#include "runnel/core/time/zone.h"
#include "runnel/modules/calendar/repository.h"

namespace runnel::modules::calendar {

namespace {

// An event at a time of day, or of a whole day if it lasts no minutes. The titles are in both languages,
// because nobody has chosen one yet.
struct DemoEvent {
  char const* id;
  char const* title;
  char const* location;
  int days_from_today;
  int start_minute;
  int minutes;
};

constexpr std::array<DemoEvent, 3> kOwn{
    {{"evt_demo_call", "与 Ann 通话 · Call with Ann", "", 0, 15 * 60, 30},
     {"evt_demo_meeting", "周会 · Weekly meeting", "三号会议室 · Room 3", 1, 16 * 60, 60},
     {"evt_demo_day", "公司日 · Company day", "", 3, 0, 0}}};
constexpr DemoEvent kInvited{
    "evt_demo_review", "产品评审 · Product review", "一号会议室 · Room 1", 2, 14 * 60, 60};
constexpr char kOrganizer[] = "wei";

Event make_event(DemoEvent const& demo, Zone const& zone, std::chrono::local_days today) {
  auto const day = today + std::chrono::days{demo.days_from_today};
  Event event;
  event.id = demo.id;
  event.title = demo.title;
  event.location = demo.location;
  event.timezone = zone.name();
  event.all_day = demo.minutes == 0;
  if (event.all_day) {
    auto const midnight = std::int64_t{day.time_since_epoch().count()} * kDayMs;
    event.span = {midnight, midnight + kDayMs};
  } else {
    auto const start = zone.day_begins(day) + demo.start_minute * kMinuteMs;
    event.span = {start, start + demo.minutes * kMinuteMs};
    event.reminders = "[10]";
  }
  return event;
}

}  // namespace

std::vector<store::SqlStatement> demo_statements(DemoUser const& demo) {
  auto const zone = Zone::find(demo.timezone);
  if (!zone) return {};
  auto const today = zone->at(demo.now_ms).day;
  std::vector<store::SqlStatement> out;
  out.reserve(kOwn.size() + 2);
  for (auto const& event : kOwn)
    out.push_back(add_event(demo.user, make_event(event, *zone, today), demo.now_ms));
  UserId const organizer{kOrganizer};
  out.push_back(add_event(organizer, make_event(kInvited, *zone, today), demo.now_ms));
  out.push_back(
      add_invite(organizer, kInvited.id, {"inv_demo_review", demo.user.text, "pending"}, demo.now_ms));
  return out;
}

}  // namespace runnel::modules::calendar

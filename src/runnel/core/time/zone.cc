#include "runnel/core/time/zone.h"

#include <date/tz.h>

#include <stdexcept>

namespace runnel {
namespace {

date::sys_time<std::chrono::milliseconds> to_sys(std::int64_t ms) {
  return date::sys_time<std::chrono::milliseconds>{std::chrono::milliseconds{ms}};
}

}  // namespace

std::optional<Zone> Zone::find(std::string const& name) {
  try {
    auto const* zone = date::locate_zone(name);
    zone->get_info(date::sys_seconds{});  // The first query reads the zone's file.
    return Zone{*zone};
  } catch (std::runtime_error const&) {
    return std::nullopt;
  }
}

std::string_view Zone::name() const {
  return zone_->name();
}

LocalMinute Zone::at(std::int64_t ms) const {
  auto const local = zone_->to_local(to_sys(ms));
  auto const day = date::floor<date::days>(local);
  auto const minute = date::floor<std::chrono::minutes>(local - day);
  return {std::chrono::local_days{std::chrono::days{day.time_since_epoch().count()}},
          static_cast<int>(minute.count())};
}

std::int64_t Zone::to_local(std::int64_t ms) const {
  return zone_->to_local(to_sys(ms)).time_since_epoch().count();
}

std::int64_t Zone::to_instant(std::int64_t local_ms) const {
  date::local_time<std::chrono::milliseconds> const local{std::chrono::milliseconds{local_ms}};
  return zone_->to_sys(local, date::choose::earliest).time_since_epoch().count();
}

std::int64_t Zone::day_begins(std::chrono::local_days day) const {
  date::local_days const midnight{date::days{day.time_since_epoch().count()}};
  auto const begins = zone_->to_sys(midnight, date::choose::earliest);
  return std::chrono::milliseconds{begins.time_since_epoch()}.count();
}

}  // namespace runnel

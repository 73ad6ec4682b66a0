#include "runnel/core/time/zone.h"

#include <date/tz.h>

#include <algorithm>
#include <stdexcept>

namespace runnel {
namespace {

// Farther than any change of clocks, and near enough to be counted in milliseconds.
constexpr std::int64_t kFarSeconds = std::int64_t{1} << 40;

std::int64_t to_ms(date::sys_seconds at) {
  return std::clamp<std::int64_t>(at.time_since_epoch().count(), -kFarSeconds, kFarSeconds) * 1000;
}

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

ZoneOffset Zone::offset_at(std::int64_t ms) const {
  auto const found = zone_->get_info(date::floor<std::chrono::seconds>(to_sys(ms)));
  return {to_ms(found.begin), to_ms(found.end), found.offset.count(), found.save != std::chrono::minutes{0},
          found.abbrev};
}

std::int64_t Zone::instant_of(std::chrono::local_seconds local) const {
  date::local_seconds const at{local.time_since_epoch()};
  auto const seconds = at.time_since_epoch() - zone_->get_info(at).first.offset;
  return std::chrono::milliseconds{seconds}.count();
}

}  // namespace runnel

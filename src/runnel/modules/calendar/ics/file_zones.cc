#include "runnel/modules/calendar/ics/file_zones.h"

#include "runnel/core/text/locale_names.h"

namespace runnel::modules::calendar {

namespace {

// No name of a zone is longer.
constexpr std::size_t kLongestId = 200;

// Some programs put their own name before that of the zone: /freeassociation.sourceforge.net/Europe/Berlin.
std::string name_behind_prefix(std::string const& id) {
  if (!id.starts_with('/')) return {};
  for (auto slash = id.find('/', 1); slash != std::string::npos; slash = id.find('/', slash + 1)) {
    auto name = id.substr(slash + 1);
    if (is_zone_name(name)) return name;
  }
  return {};
}

}  // namespace

std::string FileZones::name_of(std::string const& id) const {
  if (id.empty() || id.size() > kLongestId) return {};
  if (!id.starts_with('/') && is_zone_name(id)) return id;
  auto const location = locations_.find(id);
  if (location != locations_.end() && is_zone_name(location->second)) return location->second;
  auto behind = name_behind_prefix(id);
  return behind.empty() ? zone_of_windows_name(id) : behind;
}

std::string const& FileZones::find(std::string const& id) {
  auto const [place, is_new] = found_.try_emplace(id);
  if (is_new) place->second = name_of(id);
  return place->second;
}

}  // namespace runnel::modules::calendar

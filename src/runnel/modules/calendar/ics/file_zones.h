#pragma once

#include <map>
#include <string>
#include <utility>

// The time zones of an iCalendar file.
namespace runnel::modules::calendar {

// Knows the time zones of one file by their TZID.
class FileZones {
 public:
  // `locations` are the X-LIC-LOCATION of the file's VTIMEZONE components by their TZID. `floating` is the
  // zone of times without one: a name in the IANA database.
  FileZones(std::map<std::string, std::string> locations, std::string floating)
      : locations_{std::move(locations)}, floating_{std::move(floating)} {}

  // The name in the IANA database of the zone that a file calls so. Empty if it is unknown: what a VTIMEZONE
  // says about its clocks is never used, because nothing would tell whether it is right.
  std::string const& find(std::string const& id);

  [[nodiscard]] std::string const& floating() const { return floating_; }

 private:
  [[nodiscard]] std::string name_of(std::string const& id) const;

  std::map<std::string, std::string> locations_;
  std::string floating_;
  std::map<std::string, std::string> found_;
};

}  // namespace runnel::modules::calendar

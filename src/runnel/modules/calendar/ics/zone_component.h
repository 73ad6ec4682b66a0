#pragma once

#include <cstdint>
#include <string>

namespace runnel::modules::calendar {

// A VTIMEZONE with how the clocks of the zone go from `first_ms` on. Where the clocks change by the same rule
// each year, it has that rule, without an end; otherwise it has the changes until the end of 2037, which is
// how far the time zone database goes. It has at most some kilobytes. Empty if this machine does not know the
// zone.
std::string zone_component(std::string const& zone, std::int64_t first_ms);

}  // namespace runnel::modules::calendar

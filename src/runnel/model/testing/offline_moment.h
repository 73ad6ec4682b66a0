#pragma once

#include <string>

#include "runnel/core/time/instant.h"
#include "runnel/model/builtin/offline_dates.h"

namespace runnel::model {

// The moment of an instant in a zone.
inline Moment moment_at(char const* instant, char const* zone) {
  return {parse_instant(instant).value(), Zone::find(zone).value()};
}

// A Wednesday morning in November 2026.
inline Moment wednesday(char const* zone = "Asia/Shanghai") {
  return moment_at("2026-11-18T09:00:00+08:00", zone);
}

}  // namespace runnel::model

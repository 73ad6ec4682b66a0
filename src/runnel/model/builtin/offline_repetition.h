#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "runnel/model/builtin/offline_days.h"

// How an event is repeated, as people say it in Chinese and English.
namespace runnel::model {

struct Repetition {
  std::string rule;                            // RFC 5545: FREQ=WEEKLY;BYDAY=MO
  std::vector<std::chrono::weekday> weekdays;  // Only on these, if there are any.
  std::optional<unsigned> day_of_month;
};

// "every weekday", 每周一和周三, 每月3号.
std::optional<Repetition> take_repetition(Scan& scan);

// The first day on or after `from` on which it takes place.
Day first_day(Repetition const& repetition, Day from);

}  // namespace runnel::model

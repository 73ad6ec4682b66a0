#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "runnel/modules/calendar/ics/calendar_file.h"
#include "runnel/modules/calendar/ics/file_zones.h"
#include "runnel/modules/calendar/repository.h"
#include "runnel/modules/method.h"

namespace runnel::modules::calendar {

// The codes of failures of one event: it is not what RFC 5545 asks for, or it has something that this
// calendar cannot keep as it is.
inline constexpr char kInvalidEvent[] = "INVALID_EVENT";
inline constexpr char kUnsupportedEvent[] = "UNSUPPORTED_EVENT";

struct ImportedEvent {
  Event event;  // Without an id.
  std::string uid;
  std::int64_t sequence = 0;
  std::int64_t created_at = 0;  // 0 if the file does not say it, and so is the following.
  std::int64_t modified_at = 0;
};

// The event of the calendar that says the same, or why there is none.
std::variant<ImportedEvent, MethodFailure> read_file_event(FileEvent const& from, FileZones& zones);

}  // namespace runnel::modules::calendar

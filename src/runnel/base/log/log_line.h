#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "runnel/base/log/log.h"

namespace runnel::base {

// A log line as `log` writes it, with its line break. It is redacted, and escaped so that nothing in a value
// can begin another line, move a terminal's cursor or change the direction of the text.
std::string to_line(LogLevel level, LogFormat format, std::string_view event,
                    std::initializer_list<Field> fields);

}  // namespace runnel::base

#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runnel/core/time/zone.h"

// The one place that reads and writes dates and instants as text (RFC 3339).
namespace runnel {

// UNIX milliseconds as an instant in UTC, for example 2026-01-02T03:04:05.678Z.
std::string to_rfc3339(std::int64_t unix_ms);

// UNIX seconds as an instant in UTC, for example 2026-01-02T03:04:05Z.
std::string to_rfc3339_seconds(std::int64_t unix_s);

// A date such as 2026-01-02. Empty if the text is anything else.
std::optional<std::chrono::local_days> parse_day(std::string_view text);

// The UNIX milliseconds of an RFC 3339 instant with any offset from UTC and any number of decimals; those
// beyond milliseconds are dropped. A date stands for its first moment in `zone`, or in UTC without one. Empty
// if the text is neither.
std::optional<std::int64_t> parse_instant(std::string_view text);
std::optional<std::int64_t> parse_instant(std::string_view text, Zone const& zone);

}  // namespace runnel

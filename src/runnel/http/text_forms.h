#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace runnel::http {

// UNIX milliseconds as RFC 3339 in UTC, e.g. 2026-01-02T03:04:05.678Z.
std::string to_rfc3339(std::int64_t unix_ms);

// The inverse, for any RFC 3339 instant: any offset from UTC, any number of decimals (beyond milliseconds
// they are dropped). A bare date, 2026-01-02, is its first moment in UTC. None: it is neither.
std::optional<std::int64_t> parse_instant(std::string_view text);

// Percent-encodes everything but unreserved characters: fit for a path segment or a query value.
std::string encode_component(std::string_view text);

}  // namespace runnel::http

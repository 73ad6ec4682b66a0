#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace runnel::http {

// UNIX milliseconds as RFC 3339 in UTC, e.g. 2026-01-02T03:04:05.678Z.
std::string to_rfc3339(std::int64_t unix_ms);

// Percent-encodes everything but unreserved characters: fit for a path segment or a query value.
std::string encode_component(std::string_view text);

}  // namespace runnel::http

#pragma once

#include <chrono>
#include <optional>

#include "runnel/net/http_client.h"

namespace runnel::model {

// How long the provider asks to wait: `retry-after-ms`, or else `retry-after` in seconds (possibly with a
// fraction) or as an HTTP date. A time in the past gives 0. A header that cannot be read counts as absent.
std::optional<std::chrono::milliseconds> read_retry_after(net::HttpHead const& head,
                                                          std::chrono::system_clock::time_point now);

}  // namespace runnel::model

#pragma once

#include <chrono>
#include <optional>

#include "runnel/net/http_client.h"

namespace runnel::model {

// How long the provider asks to wait: `retry-after-ms`, else `retry-after` in seconds (with a fraction,
// maybe) or as an HTTP date. A time that has passed is 0; what cannot be read is as if it were absent.
std::optional<std::chrono::milliseconds> read_retry_after(net::HttpHead const& head,
                                                          std::chrono::system_clock::time_point now);

}  // namespace runnel::model

#pragma once

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <memory>

#include "runnel/base/cancel.h"

namespace runnel::base {

// Waits on the current executor. False if it ended early because a stop was requested, also if that was
// before the call.
boost::asio::awaitable<bool> sleep_for(std::chrono::microseconds duration, std::shared_ptr<Cancel> cancel);

}  // namespace runnel::base

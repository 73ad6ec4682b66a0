#pragma once

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <memory>

#include "runnel/base/cancel.h"

namespace runnel::base {

// Waits on the current executor. False: woken early because the stop was requested (or had been before).
boost::asio::awaitable<bool> sleep_for(std::chrono::microseconds duration, std::shared_ptr<Cancel> cancel);

}  // namespace runnel::base

#pragma once

#include <boost/asio/awaitable.hpp>

#include <functional>
#include <memory>
#include <variant>

#include "runnel/http/event_feed.h"
#include "runnel/http/message.h"

namespace runnel::http {

// A whole answer, or the source of an SSE stream.
using Reply = std::variant<Response, std::unique_ptr<EventFeed>>;

// Called on the connection's core, from any core at once. An exception is a bug: it is logged and answered
// with 500.
using Handler = std::function<boost::asio::awaitable<Reply>(Request)>;

}  // namespace runnel::http

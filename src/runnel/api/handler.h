#pragma once

#include <boost/asio/awaitable.hpp>

#include <functional>
#include <memory>
#include <variant>

#include "runnel/api/message.h"

namespace runnel::api {

// An answer that is sent piece by piece. Only the server's own routes return one, and only `http` knows how
// to send it (http/routes/event_feed.h). A module's route returns whole answers.
class EventStream {
 public:
  EventStream() = default;
  EventStream(EventStream const&) = delete;
  EventStream& operator=(EventStream const&) = delete;
  virtual ~EventStream() = default;
};

using Reply = std::variant<Response, std::unique_ptr<EventStream>>;

// Called on the connection's core, so several cores may call it at the same time. An exception is a bug: it
// is logged and answered with 500.
using Handler = std::function<boost::asio::awaitable<Reply>(Request)>;

}  // namespace runnel::api

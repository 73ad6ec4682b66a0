#pragma once

#include <utility>

#include "runnel/api/handler.h"
#include "tests/support/run_async.h"

namespace runnel::api {

// For tests: runs a handler without a server and returns its reply.
inline Reply run_handler(boost::asio::awaitable<Reply> answering) {
  return run_async(std::move(answering));
}

}  // namespace runnel::api

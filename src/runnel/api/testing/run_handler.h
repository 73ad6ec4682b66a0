#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <exception>
#include <optional>
#include <utility>

#include "runnel/api/handler.h"

namespace runnel::api {

// For tests: runs a handler without a server and returns its reply.
inline Reply run_handler(boost::asio::awaitable<Reply> answering) {
  boost::asio::io_context context;
  std::optional<Reply> out;
  boost::asio::co_spawn(context, std::move(answering),
                        [&out](std::exception_ptr const& failure, Reply reply) {
                          if (failure) std::rethrow_exception(failure);
                          out = std::move(reply);
                        });
  context.run();
  return std::move(out.value());
}

}  // namespace runnel::api

#include "runnel/app/tools/tool_server.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "runnel/modules/tool_route.h"
#include "runnel/tools/call_arguments.h"

namespace runnel::app {

namespace {

// Every connection belongs to a program that this process has started, so there is no crowd to keep out.
constexpr std::size_t kMostConnections = std::size_t{1} << 20U;

api::Router make_tool_router(ToolServer::Parts parts, base::ToolCredentials const& credentials) {
  api::Router router;
  modules::add_tool_route(router, {parts.sql, parts.clock, credentials, std::move(parts.methods),
                                   parts.storage_bytes_per_user, parts.output_bytes});
  return router;
}

http::ServerOptions tool_server_options() {
  http::ServerOptions options;
  options.limits.max_connections = kMostConnections;
  options.limits.max_silent_connections = kMostConnections;
  // The input may have become longer when it was written again, because numbers have another form.
  options.limits.small_body_bytes = 4 * tools::kMostArgumentBytes;
  // As long as a call may last: the program decides when it asks.
  options.limits.header_deadline = std::chrono::seconds{base::kToolCredentialLife};
  return options;
}

tools::CallReceipt to_receipt(std::string const& text) {
  tools::CallReceipt receipt;
  auto const data = modules::data_in(text);
  receipt.took_effect = data.has_value();
  receipt.partial = modules::is_partial(text);
  receipt.json = data ? *data : modules::error_in(text).value_or("{}");
  return receipt;
}

}  // namespace

ToolServer::ToolServer(Parts parts)
    : calls_{parts.sql},
      server_{parts.cores, make_tool_router(parts, credentials_), nullptr, tool_server_options()} {}

Result<base::Descriptor> ToolServer::connect() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return Error{Errc::unavailable, std::string{"a connection for a tool: "} + std::strerror(errno)};
  base::Descriptor ours{ends[0]};
  base::Descriptor theirs{ends[1]};
  auto const adopted = server_.adopt(std::move(ours));
  if (!adopted) return adopted.error();
  return theirs;
}

boost::asio::awaitable<Result<tools::CallReceipt>> ToolServer::settle(base::ToolGrant grant,
                                                                      std::string error) {
  auto const receipt = co_await calls_.settle(std::move(grant), modules::receipt_of_failure(error));
  if (!receipt) co_return receipt.error();
  co_return to_receipt(*receipt);
}

}  // namespace runnel::app

#include "cli/project_cli/exchange.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <sys/socket.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <optional>
#include <utility>

namespace project_cli {

namespace beast = boost::beast;
namespace http = boost::beast::http;

namespace {

constexpr int kConnection = 3;
// The server keeps its answers far below this.
constexpr std::size_t kMostAnswerBytes = std::size_t{8} << 20U;
constexpr std::size_t kPieceBytes = 16384;

std::string make_request(std::string const& module, std::string const& method, std::string const& credential,
                         std::string const& input) {
  std::string out = "POST /api/v1/tools/" + module + "/" + method + " HTTP/1.1\r\nHost: runnel\r\n";
  out += "Authorization: Bearer " + credential + "\r\nContent-Type: application/json\r\n";
  out += "Content-Length: " + std::to_string(input.size()) + "\r\nConnection: close\r\n\r\n";
  return out + input;
}

Trouble bad_answer(std::string what) {
  return {"INVALID_ANSWER", std::move(what)};
}

// MSG_NOSIGNAL: a server that has closed the connection must not end this program by a signal.
std::optional<Trouble> send_all(std::string const& text) {
  std::size_t sent = 0;
  while (sent < text.size()) {
    auto const wrote = ::send(kConnection, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) {
      return Trouble{"SERVER_UNREACHABLE",
                     std::string{"the request cannot be sent on descriptor 3: "} + std::strerror(errno)};
    }
    sent += static_cast<std::size_t>(wrote);
  }
  return std::nullopt;
}

}  // namespace

std::variant<Answer, Trouble> ask_server(std::string const& module, std::string const& method,
                                         std::string const& credential, std::string const& input) {
  if (auto failed = send_all(make_request(module, method, credential, input))) return std::move(*failed);
  http::response_parser<http::string_body> parser;
  parser.body_limit(kMostAnswerBytes);
  parser.eager(true);
  beast::flat_buffer buffer;
  while (!parser.is_done()) {
    auto const space = buffer.prepare(kPieceBytes);
    auto const read = ::recv(kConnection, space.data(), space.size(), 0);
    if (read < 0 && errno == EINTR) continue;
    if (read < 0)
      return bad_answer(std::string{"the answer cannot be read from descriptor 3: "} + std::strerror(errno));
    if (read == 0) return bad_answer("the server closed the connection before its answer was complete");
    buffer.commit(static_cast<std::size_t>(read));
    beast::error_code error;
    buffer.consume(parser.put(buffer.data(), error));
    if (error && error != http::error::need_more) {
      return bad_answer("the server's answer cannot be read: " + error.message());
    }
  }
  return Answer{parser.get().result_int(), std::move(parser.get().body())};
}

}  // namespace project_cli

#include "runnel/http/connection/response_head.h"

#include <boost/beast/http/status.hpp>

#include <algorithm>
#include <array>
#include <ctime>

#include "runnel/core/text/text.h"

namespace runnel::http {
namespace {

bool is_one_line(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) { return c == '\r' || c == '\n' || c == '\0'; });
}

void append_header(std::string& out, std::string_view name, std::string_view value) {
  if (!is_one_line(name) || !is_one_line(value)) return;
  out.append(name).append(": ").append(value).append("\r\n");
}

// RFC 9110 6.6.1 asks for it. It is made at most once per second on each thread.
std::string const& date_text() {
  thread_local std::time_t made_at = 0;
  thread_local std::string text;
  auto const now = std::time(nullptr);
  if (now != made_at) {
    std::tm parts{};
    gmtime_r(&now, &parts);
    std::array<char, 40> buffer{};
    text.assign(buffer.data(),
                std::strftime(buffer.data(), buffer.size(), "%a, %d %b %Y %H:%M:%S GMT", &parts));
    made_at = now;
  }
  return text;
}

std::string begin_head(int status, Exchange const& exchange) {
  std::string out;
  out.reserve(512);
  out += exchange.http_1_1 ? "HTTP/1.1 " : "HTTP/1.0 ";
  out += std::to_string(status);
  out += ' ';
  auto const reason =
      boost::beast::http::obsolete_reason(boost::beast::http::int_to_status(unsigned(status)));
  out.append(reason.data(), reason.size()).append("\r\n");
  append_header(out, "Date", date_text());
  append_header(out, "X-Request-Id", exchange.request_id);
  append_header(out, "X-Content-Type-Options", "nosniff");
  append_header(out, "Referrer-Policy", "no-referrer");
  for (auto const& [name, value] : exchange.more_headers)
    append_header(out, name, value);
  return out;
}

bool has_header(api::Response const& response, std::string_view name) {
  return std::any_of(response.headers.begin(), response.headers.end(),
                     [name](auto const& item) { return equal_ignoring_case(item.first, name); });
}

}  // namespace

std::string response_head(api::Response const& response, Exchange const& exchange) {
  auto out = begin_head(response.status, exchange);
  bool const may_have_body = response.status >= 200 && response.status != 204 && response.status != 304;
  if (may_have_body && !response.content_type.empty())
    append_header(out, "Content-Type", response.content_type);
  if (may_have_body) append_header(out, "Content-Length", std::to_string(response.content().size()));
  // Answers belong to one user, and some contain tokens.
  if (!has_header(response, "Cache-Control")) append_header(out, "Cache-Control", "no-store");
  // No answer is a page that may be framed or may run scripts, unless the answer says so itself.
  if (may_have_body && !has_header(response, "Content-Security-Policy"))
    append_header(out, "Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
  for (auto const& [name, value] : response.headers)
    append_header(out, name, value);
  if (!exchange.keep_alive) {
    append_header(out, "Connection", "close");
  } else if (!exchange.http_1_1) {
    append_header(out, "Connection", "keep-alive");
  }
  return out += "\r\n";
}

std::string stream_head(Exchange const& exchange) {
  auto out = begin_head(200, exchange);
  append_header(out, "Content-Type", "text/event-stream");
  append_header(out, "Cache-Control", "no-cache");
  append_header(out, "X-Accel-Buffering", "no");
  if (exchange.http_1_1) append_header(out, "Transfer-Encoding", "chunked");
  // Sent only if the client asks for it or speaks HTTP/1.0: with this header, Node's fetch takes a stream
  // that was cut for one that has ended (decision 007).
  if (!exchange.keep_alive || !exchange.http_1_1) append_header(out, "Connection", "close");
  return out += "\r\n";
}

std::string web_socket_head(Exchange const& exchange, std::string_view accept) {
  auto out = begin_head(101, exchange);
  append_header(out, "Upgrade", "websocket");
  append_header(out, "Connection", "Upgrade");
  append_header(out, "Sec-WebSocket-Accept", accept);
  return out += "\r\n";
}

}  // namespace runnel::http

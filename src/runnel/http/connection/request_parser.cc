#include "runnel/http/connection/request_parser.h"

#include <boost/beast/http/error.hpp>
#include <boost/beast/http/verb.hpp>

#include <algorithm>
#include <utility>

namespace runnel::http {
namespace {

namespace beast_http = boost::beast::http;
using boost::system::error_code;

// How many bytes chunks may add per byte of the body: enough for chunks of one byte, but not for kilobytes of
// extensions on each.
constexpr std::size_t kMaxFramingPerByte = 8;

api::Method method_of(beast_http::verb verb) {
  switch (verb) {
    case beast_http::verb::get:
      return api::Method::get;
    case beast_http::verb::post:
      return api::Method::post;
    case beast_http::verb::put:
      return api::Method::put;
    case beast_http::verb::patch:
      return api::Method::patch;
    case beast_http::verb::delete_:
      return api::Method::del;
    case beast_http::verb::head:
      return api::Method::head;
    case beast_http::verb::options:
      return api::Method::options;
    default:
      return api::Method::other;
  }
}

// RFC 9112 5.2. Beast joins folded lines, also in trailers. In a head, HeadScan refuses them earlier.
bool has_folded_line(std::string_view fields) {
  return fields.find("\r\n ") != std::string_view::npos || fields.find("\r\n\t") != std::string_view::npos;
}

}  // namespace

// Some servers take a lone CR or LF in an extension for the end of the line; for them the chunk would begin
// there.
void RequestParser::ChunkHeads::operator()(std::uint64_t size, boost::beast::string_view extension,
                                           error_code& ec) {
  bool const plain = std::none_of(extension.begin(), extension.end(),
                                  [](char c) { return (c >= 0 && c < ' ' && c != '\t') || c == 0x7f; });
  if (!plain) ec = beast_http::error::bad_chunk_extension;
  if (size == 0) trailers = extension.end();
}

RequestParser::RequestParser(Limits const& limits) : limits_{limits} {
  parser_.header_limit(static_cast<std::uint32_t>(limits.header_bytes));
  parser_.body_limit(limits.body_bytes);
  parser_.on_chunk_header(chunk_heads_);
}

error_code RequestParser::put_head(boost::beast::flat_buffer& buffer) {
  error_code ec;
  buffer.consume(parser_.put(buffer.cdata(), ec));
  parser_.eager(true);
  return ec;
}

error_code RequestParser::put_body(boost::beast::flat_buffer& buffer) {
  error_code ec;
  auto const input = buffer.cdata();
  auto const used = parser_.put(input, ec);
  if (chunk_heads_.trailers != nullptr && !ec) {
    auto const* const end = static_cast<char const*>(input.data()) + used;
    std::string_view const trailers{chunk_heads_.trailers,
                                    static_cast<std::size_t>(end - chunk_heads_.trailers)};
    if (has_folded_line(trailers)) ec = beast_http::error::bad_field;
    chunk_heads_.trailers = nullptr;
  }
  buffer.consume(used);
  taken_ += used;
  if (ec && ec != beast_http::error::need_more) return ec;
  auto const body = parser_.get().body().size();
  bool const mostly_framing = taken_ > body + body * kMaxFramingPerByte + limits_.header_bytes;
  if (mostly_framing || buffer.size() == buffer.max_size()) return beast_http::error::bad_chunk_extension;
  return {};
}

bool RequestParser::expects_continue() const {
  return is_http_1_1() && parser_.get().count(beast_http::field::expect) > 0;
}

std::optional<std::uint64_t> RequestParser::announced_length() const {
  auto const length = parser_.content_length();
  if (!length) return std::nullopt;
  return *length;
}

std::string_view RequestParser::target() const {
  auto const target = parser_.get().target();
  return {target.data(), target.size()};
}

api::Request RequestParser::request() const {
  api::Request out;
  auto const& head = parser_.get();
  out.method = method_of(head.method());
  for (auto const& field : head)
    out.headers.emplace_back(field.name_string(), field.value());
  out.host = std::string{out.header("Host").value_or("")};
  out.request_id = std::string{out.header("X-Request-Id").value_or("")};
  if (!is_usable_id(out.request_id)) out.request_id = mint_uuid();
  return out;
}

}  // namespace runnel::http

#pragma once

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "runnel/api/message.h"
#include "runnel/http/connection/arrived_body.h"
#include "runnel/http/connection/limits.h"

namespace runnel::http {

// Beast's parser with this server's limits. It turns a request's bytes into a Request, independently of any
// socket.
class RequestParser {
 public:
  explicit RequestParser(Limits const& limits);
  RequestParser(RequestParser const&) = delete;
  RequestParser& operator=(RequestParser const&) = delete;

  // Takes the head, which must have arrived as a whole.
  boost::system::error_code put_head(boost::beast::flat_buffer& buffer);
  // Call this after the head. Sets how large a body in chunks may become.
  void limit_body(std::size_t bytes) { parser_.body_limit(bytes); }
  // Takes what has arrived of the body. If there is no error and the body is not done, more is needed.
  boost::system::error_code put_body(boost::beast::flat_buffer& buffer);

  [[nodiscard]] bool is_done() const { return parser_.is_done(); }
  [[nodiscard]] bool is_http_1_1() const { return parser_.get().version() == 11; }
  [[nodiscard]] bool keeps_alive() const { return parser_.keep_alive(); }
  [[nodiscard]] bool expects_continue() const;
  [[nodiscard]] std::string_view target() const;

  // The part of the request that the head has. Its id is minted here if the client sends no usable one.
  [[nodiscard]] api::Request request() const;
  // Empty if the body comes in chunks or there is no body.
  [[nodiscard]] std::optional<std::uint64_t> announced_length() const;
  [[nodiscard]] std::size_t body_size() const { return parser_.get().body().size(); }
  [[nodiscard]] std::string take_body() { return std::move(parser_.get().body()); }

 private:
  // Checks the head of each chunk.
  struct ChunkHeads {
    void operator()(std::uint64_t size, boost::beast::string_view extension, boost::system::error_code& ec);
    char const* trailers = nullptr;  // Their start in the parser's input, once the last chunk has come.
  };

  Limits const& limits_;
  boost::beast::http::request_parser<ArrivedBody> parser_;
  ChunkHeads chunk_heads_;
  std::size_t taken_ = 0;  // Bytes of the body with its framing.
};

}  // namespace runnel::http

#pragma once

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "runnel/http/arrived_body.h"
#include "runnel/http/limits.h"
#include "runnel/http/message.h"

namespace runnel::http {

// Beast's parser with this server's limits: from a request's bytes to a Request, without any socket.
class RequestParser {
 public:
  explicit RequestParser(Limits const& limits);
  RequestParser(RequestParser const&) = delete;
  RequestParser& operator=(RequestParser const&) = delete;

  // Takes the head, which must be there as a whole.
  boost::system::error_code put_head(boost::beast::flat_buffer& buffer);
  // After the head: how large a body in chunks may become.
  void limit_body(std::size_t bytes) { parser_.body_limit(bytes); }
  // Takes what has come of the body. No error and not done: more is needed.
  boost::system::error_code put_body(boost::beast::flat_buffer& buffer);

  [[nodiscard]] bool is_done() const { return parser_.is_done(); }
  [[nodiscard]] bool is_http_1_1() const { return parser_.get().version() == 11; }
  [[nodiscard]] bool keeps_alive() const { return parser_.keep_alive(); }
  [[nodiscard]] bool expects_continue() const;
  [[nodiscard]] std::string_view target() const;

  // The head's part of a request, with an id of ours where the client's is none.
  [[nodiscard]] Request request() const;
  // None: it comes in chunks, or there is none.
  [[nodiscard]] std::optional<std::uint64_t> announced_length() const;
  [[nodiscard]] std::size_t body_size() const { return parser_.get().body().size(); }
  [[nodiscard]] std::string take_body() { return std::move(parser_.get().body()); }

 private:
  // Looks at the head of each chunk.
  struct ChunkHeads {
    void operator()(std::uint64_t size, boost::beast::string_view extension, boost::system::error_code& ec);
    char const* trailers = nullptr;  // In the parser's input, once the last chunk has come.
  };

  Limits const& limits_;
  boost::beast::http::request_parser<ArrivedBody> parser_;
  ChunkHeads chunk_heads_;
  std::size_t taken_ = 0;  // Of the body, with its framing.
};

}  // namespace runnel::http

#pragma once

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include <cstddef>

#include "runnel/http/limits.h"
#include "runnel/http/message.h"

namespace runnel::http {

// Beast's parser with this server's limits: from a request's bytes to a Request, without any socket.
class RequestParser {
 public:
  explicit RequestParser(Limits const& limits);

  // Takes the head, which must be there as a whole.
  boost::system::error_code put_head(boost::beast::flat_buffer& buffer);
  // Takes what has come of the body. No error and not done: more is needed.
  boost::system::error_code put_body(boost::beast::flat_buffer& buffer);

  [[nodiscard]] bool is_done() const { return parser_.is_done(); }
  [[nodiscard]] bool is_http_1_1() const { return parser_.get().version() == 11; }
  [[nodiscard]] bool keeps_alive() const { return parser_.keep_alive(); }
  [[nodiscard]] bool expects_continue() const;
  [[nodiscard]] std::string_view target() const;

  // The head's part of a request, with an id of ours where the client's is none.
  [[nodiscard]] Request request() const;
  [[nodiscard]] std::string take_body() { return std::move(parser_.get().body()); }

 private:
  Limits const& limits_;
  boost::beast::http::request_parser<boost::beast::http::string_body> parser_;
  std::size_t taken_ = 0;  // Of the body, with its framing.
};

}  // namespace runnel::http

#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/buffers_range.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/optional.hpp>
#include <boost/system/error_code.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

namespace runnel::http {

// A Beast body: a string that grows as bytes arrive. Beast's own string body allocates all that a head
// announces before any of it has arrived.
struct ArrivedBody {
  using value_type = std::string;

  class reader {
   public:
    template <bool IsRequest, class Fields>
    explicit reader(boost::beast::http::header<IsRequest, Fields>& /*head*/, value_type& body)
        : body_{body} {}

    void init(boost::optional<std::uint64_t> const& length, boost::system::error_code& ec) {
      announced_ = static_cast<std::size_t>(length.value_or(0));
      ec = {};
    }

    template <class Buffers>
    std::size_t put(Buffers const& buffers, boost::system::error_code& ec) {
      auto const before = body_.size();
      auto const needed = before + boost::asio::buffer_size(buffers);
      // The capacity doubles, as a string's does by itself, but never exceeds the announced length.
      if (needed > body_.capacity() && announced_ >= needed)
        body_.reserve(std::min(announced_, std::max(needed, 2 * body_.capacity())));
      for (auto const part : boost::beast::buffers_range_ref(buffers))
        body_.append(static_cast<char const*>(part.data()), part.size());
      ec = {};
      return body_.size() - before;
    }

    void finish(boost::system::error_code& ec) { ec = {}; }

   private:
    value_type& body_;
    std::size_t announced_ = 0;
  };
};

}  // namespace runnel::http

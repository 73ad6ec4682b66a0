#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>

#include <memory>

#include "runnel/net/curl_loop.h"

namespace runnel::net {

// A socket of libcurl's, watched for one set of directions. A change of the set takes a new watch: the number
// may meanwhile be another socket's, a wait of the old watch may already be on its way, and a descriptor that
// was once watched for writing would be reported writable at every wait to read.
class SocketWatch : public std::enable_shared_from_this<SocketWatch> {
 public:
  SocketWatch(CurlLoop& loop, curl_socket_t socket)
      : loop_{&loop}, socket_{socket}, descriptor_{loop.context()} {}
  SocketWatch(SocketWatch const&) = delete;
  SocketWatch& operator=(SocketWatch const&) = delete;
  ~SocketWatch() { end(); }

  // `what` is one of libcurl's CURL_POLL_…. False: the socket cannot be watched.
  bool begin(int what);
  // From here on it is silent, and the socket is libcurl's alone. The socket is still open.
  void end();

 private:
  using Descriptor = boost::asio::posix::basic_stream_descriptor<boost::asio::io_context::executor_type>;
  static void wait(std::shared_ptr<SocketWatch> self, Descriptor::wait_type direction, int bit);
  static void ready(std::shared_ptr<SocketWatch> self, Descriptor::wait_type direction, int bit);

  CurlLoop* loop_;  // None: ended.
  curl_socket_t socket_;
  Descriptor descriptor_;
};

}  // namespace runnel::net

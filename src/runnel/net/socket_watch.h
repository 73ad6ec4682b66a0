#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>

#include <memory>

#include "runnel/net/curl_loop.h"

namespace runnel::net {

// Watches one of libcurl's sockets for one set of directions. A change of the set needs a new watch, for
// three reasons: the descriptor's number may belong to another socket by then, a handler of the old watch may
// already be queued, and a descriptor that was once watched for writing would be reported as writable at
// every wait for reading.
class SocketWatch : public std::enable_shared_from_this<SocketWatch> {
 public:
  SocketWatch(CurlLoop& loop, curl_socket_t socket)
      : loop_{&loop}, socket_{socket}, descriptor_{loop.context()} {}
  SocketWatch(SocketWatch const&) = delete;
  SocketWatch& operator=(SocketWatch const&) = delete;
  ~SocketWatch() { end(); }

  // `what` is one of libcurl's CURL_POLL_…. False if the socket cannot be watched.
  bool begin(int what);
  // Ends the watch and leaves the socket to libcurl. The socket must still be open.
  void end();

 private:
  using Descriptor = boost::asio::posix::basic_stream_descriptor<boost::asio::io_context::executor_type>;
  static void wait(std::shared_ptr<SocketWatch> self, Descriptor::wait_type direction, int bit);
  static void ready(std::shared_ptr<SocketWatch> self, Descriptor::wait_type direction, int bit);

  CurlLoop* loop_;  // Null after the end.
  curl_socket_t socket_;
  Descriptor descriptor_;
};

}  // namespace runnel::net

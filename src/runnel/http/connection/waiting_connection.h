#pragma once

#include <boost/intrusive/list_hook.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "runnel/api/message.h"
#include "runnel/http/connection/connection_count.h"
#include "runnel/http/connection/core_sessions.h"
#include "runnel/http/connection/head_scan.h"
#include "runnel/http/connection/socket.h"

namespace runnel::http {

class WaitingList;
using WaitingHook =
    boost::intrusive::list_base_hook<boost::intrusive::tag<WaitingList>,
                                     boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

// An open connection, and the bytes that it has sent after its last request.
struct OpenConnection {
  OpenConnection(Socket its_socket, ConnectionEntry its_entry, std::string its_bytes)
      : socket{std::move(its_socket)}, entry{std::move(its_entry)}, bytes{std::move(its_bytes)} {}

  Socket socket;
  ConnectionEntry entry;
  std::string bytes;
};

// A connection from which the server waits for a request: a new one, or one between two requests. It is a
// plain object, and nothing is allocated for the request before its head is whole, so a silent connection or
// half a head costs little (HTTP-6). It lives on one core, in that core's waiting list.
class WaitingConnection final : public Session,
                                public WaitingHook,
                                public std::enable_shared_from_this<WaitingConnection> {
 public:
  WaitingConnection(WaitingList& waiting, OpenConnection connection);

  void start();

  // Whether it may be closed for another connection: everything that it has sent so far has been read and is
  // not a whole head.
  [[nodiscard]] bool is_quiet() const;
  [[nodiscard]] bool is_silent() const { return connection_.entry.is_silent(); }
  void close();

  void on_tick() override;
  void end_stream() override {}
  void stop() override { close(); }

 private:
  void await_input();
  void on_readable();
  HeadScan::State scan();
  void on_bytes();
  void hand_over(std::optional<api::Response> refusal);
  void leave();

  WaitingList& waiting_;
  OpenConnection connection_;
  HeadScan scan_;
  std::uint32_t since_;  // When the head or, if nothing of it has come, the silence began.
  bool gone_ = false;
};

}  // namespace runnel::http

#pragma once

#include <boost/asio/awaitable.hpp>

#include "runnel/http/dispatcher.h"
#include "runnel/http/roster.h"
#include "runnel/http/socket.h"

namespace runnel::http {

// Serves one client until either side closes, on the roster's core. Ends too when an SSE stream goes live:
// the connection is then an SseSession's. The pointees outlive it.
boost::asio::awaitable<void> serve_connection(Socket socket, Roster* roster, Dispatcher* dispatcher);

}  // namespace runnel::http

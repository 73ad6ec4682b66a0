#pragma once

#include <boost/asio/awaitable.hpp>

#include <optional>

#include "runnel/http/dispatcher.h"
#include "runnel/http/lobby.h"

namespace runnel::http {

// Serves the request whose whole head the caller has sent, or gives it the refusal, on the lobby's core. Then
// the connection is closed, or goes back to the lobby for the next request, or is an SseSession's once a
// stream is live. The pointees outlive it.
boost::asio::awaitable<void> serve_connection(Caller caller, std::optional<Response> refusal, Lobby* lobby,
                                              Dispatcher* dispatcher);

}  // namespace runnel::http

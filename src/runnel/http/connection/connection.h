#pragma once

#include <boost/asio/awaitable.hpp>

#include <optional>

#include "runnel/http/connection/waiting_list.h"
#include "runnel/http/dispatcher.h"

namespace runnel::http {

// Serves the request whose whole head the connection has sent, or sends the refusal if there is one, on the
// core of the waiting list. After that the connection is closed, or goes back to that list to wait for the
// next request, or belongs to an StreamSession once a stream is live. The pointees outlive it.
boost::asio::awaitable<void> serve_connection(OpenConnection connection, std::optional<api::Response> refusal,
                                              WaitingList* waiting, Dispatcher* dispatcher);

}  // namespace runnel::http

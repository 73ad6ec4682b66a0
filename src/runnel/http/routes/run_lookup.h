#pragma once

#include <boost/asio/awaitable.hpp>

#include <variant>

#include "runnel/api/message.h"
#include "runnel/http/routes/run_alias.h"
#include "runnel/store/store.h"

// How the routes of one run find it, and what they answer if they cannot.
namespace runnel::http {

api::Response no_such_run();
api::Response run_id_missing();

// The log is past its retention, or can no longer be read.
api::Response events_expired(store::RunRow const& run);

// The run that the path's {thread_id} and the query's runId name, if it belongs to the caller.
boost::asio::awaitable<std::variant<NamedRun, api::Response>> find_run(store::Store* store,
                                                                       api::Request const* request);

}  // namespace runnel::http

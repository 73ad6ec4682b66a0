#pragma once

#include <boost/asio/awaitable.hpp>

#include <memory>

#include "runnel/runtime/execution/run_job.h"
#include "runnel/runtime/writing/commit.h"
#include "runnel/runtime/writing/run_writer.h"

namespace runnel::runtime {

// The commit, and if it supersedes a message (RUN-14), behind that the fact that tells AG-UI's clients what
// the thread shows without it (AGUI-8). Every commit that may supersede a message goes through this.
boost::asio::awaitable<Commit> with_what_is_left(RunParts parts, UserId owner,
                                                 std::shared_ptr<RunWriter> writer, Commit commit);

}  // namespace runnel::runtime

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runnel/core/error.h"
#include "runnel/store/postgres/connection.h"
#include "runnel/store/rows.h"

// Conversions between a run's requests and what travels to and from PostgreSQL: the arguments of the
// functions that write a run (migrations/postgres), the end of its log, and the checkpoints that are read.
namespace runnel::store::postgres {

Statement admit_statement(AdmitRequest const& request);
Statement append_statement(AppendRequest const& request);
Statement end_statement(EndRequest const& request);
Statement force_end_statement(ForceEndRequest const& request);

Statement release_statement(RunKey run, Epoch epoch);
Result<void> to_released(Rows const& rows);

Statement log_end_statement(RunKey run);
Result<LogEnd> to_log_end(Rows const& rows);

Statement checkpoints_statement(RunKey run, std::int64_t after, std::size_t max_bytes);
Result<std::vector<Checkpoint>> to_checkpoints(Rows const& rows);

}  // namespace runnel::store::postgres

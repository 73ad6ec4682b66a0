#pragma once

#include <vector>

#include "runnel/core/error.h"
#include "runnel/store/postgres_connection.h"
#include "runnel/store/rows.h"

// Between a run's requests and what travels to and from PostgreSQL: the arguments of postgres_flows.cc's
// functions, and the checkpoints that are read.
namespace runnel::store::postgres {

Statement admit_statement(AdmitRequest const& request);
Statement append_statement(AppendRequest const& request);
Statement end_statement(EndRequest const& request);

Statement checkpoints_statement(RunKey run);
Result<std::vector<Checkpoint>> to_checkpoints(Rows const& rows);

}  // namespace runnel::store::postgres

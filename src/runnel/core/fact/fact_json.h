#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runnel/core/error.h"
#include "runnel/core/fact/fact.h"

// The form of facts in the durable log: a row's body is a JSON array with one object per fact,
// {"n":…,"idx":…,"ts":…,"fact":"text_delta",…}. The epoch is in the row, not in the body.
namespace runnel {

// Appends one record's object.
void append_record_json(std::string& out, Record const& record);

// The name of this kind of fact in the log, for example "text_delta".
std::string_view fact_name(Fact const& fact);

// The records of a row's body, in order. Fails with `internal` if the body is not such an array: a log that
// cannot be read is corruption, never an empty log.
Result<std::vector<Record>> parse_log_body(std::string_view body, Epoch epoch);

// A list of usages in the same form as in facts, for data that is kept outside the log.
void append_usage_json(std::string& out, std::vector<Usage> const& usage);
Result<std::vector<Usage>> parse_usage_json(std::string_view json);

}  // namespace runnel

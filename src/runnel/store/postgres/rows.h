#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runnel/core/error.h"
#include "runnel/core/json/write.h"
#include "runnel/store/postgres/connection.h"
#include "runnel/store/rows.h"

// Conversions between the records of store/rows.h and what travels to and from PostgreSQL: the arguments and
// results of the functions in migrations/postgres, and the columns that postgres/store.cc selects.
namespace runnel::store::postgres {

// A JSON array. Empty if there are no records.
template <class Record, class Append>
std::optional<std::string> array_json(std::vector<Record> const& records, Append const& append) {
  if (records.empty()) return std::nullopt;
  std::string out;
  append_json_array(out, records, append);
  return out;
}
// Empty if there are no messages.
std::optional<std::string> messages_json(std::vector<NewMessage> const& messages);
std::string begin_json(Begin const& begin);
char const* to_string(OnBusy policy);
std::optional<std::string> unless_empty(std::string const& text);  // An empty text is stored as NULL.

Result<Admission> to_admission(Rows const& rows);
Result<Claim> to_claim(Rows const& rows);
Result<Ended> to_ended(Rows const& rows);
Result<DeleteOutcome> to_delete_outcome(Rows const& rows);
// How many rows a purge has deleted. One of `rows` holds this number. Each of the others stands for an entry
// that was passed over, and is logged.
Result<std::size_t> to_purged(Rows const& rows);

std::vector<RunRow> to_runs(Rows const& rows);
Result<std::optional<RunRow>> to_run(Rows const& rows);
std::vector<ThreadRow> to_threads(Rows const& rows);

}  // namespace runnel::store::postgres

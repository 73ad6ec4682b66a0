#include "runnel/http/routes/stage_rows.h"

#include <boost/json.hpp>

#include <algorithm>
#include <utility>

#include "runnel/core/json/parse.h"

namespace runnel::http {

namespace {

// One row per stage and model. While a call is open, its cost is what it reserves.
constexpr char kStageUsage[] =
    "SELECT stage, model, CAST(sum(input_tokens) AS BIGINT), CAST(sum(output_tokens) AS BIGINT), "
    "sum(CASE WHEN status = 'open' THEN 0 ELSE cost END), "
    "sum(CASE WHEN usage_complete OR status = 'open' THEN 0 ELSE 1 END), "
    "sum(CASE WHEN status = 'completed' THEN 1 ELSE 0 END), "
    "max(CASE WHEN status = 'completed' THEN row_no ELSE 0 END), max(row_no) "
    "FROM model_calls WHERE run_id = $1 GROUP BY stage, model ORDER BY min(row_no)";

// The newest audit row has the smallest seq.
constexpr char kLastOutput[] =
    "SELECT content, metadata FROM agent_chat_messages WHERE run_id = $1 AND seq < 0 ORDER BY seq LIMIT 1";

StageUsage& usage_of_stage(std::vector<StageUsage>& all, std::string const& stage) {
  auto const found =
      std::find_if(all.begin(), all.end(), [&](StageUsage const& known) { return known.stage == stage; });
  if (found != all.end()) return *found;
  auto& added = all.emplace_back();
  added.stage = stage;
  return added;
}

std::vector<StageUsage> to_stage_usage(store::SqlResult const& rows) {
  std::vector<StageUsage> all;
  std::vector<std::int64_t> last_calls;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    auto& usage = usage_of_stage(all, rows.text(i, 0));
    last_calls.resize(all.size());
    auto& last_call = last_calls[static_cast<std::size_t>(&usage - all.data())];
    usage.models.push_back(rows.text(i, 1));
    usage.input_tokens += rows.integer(i, 2);
    usage.output_tokens += rows.integer(i, 3);
    usage.cost = saturating_add(usage.cost, rows.money(i, 4));
    usage.complete = usage.complete && rows.integer(i, 5) == 0;
    usage.calls.completed += rows.integer(i, 6);
    if (rows.integer(i, 8) <= last_call) continue;
    last_call = rows.integer(i, 8);
    usage.calls.last_completed = rows.integer(i, 7) == last_call;
  }
  return all;
}

std::string text_in(boost::json::object const& metadata, char const* key) {
  auto const* const value = metadata.if_contains(key);
  return value != nullptr && value->is_string() ? std::string{value->get_string()} : std::string{};
}

// Rows of outputs that were sent back, and of calls without an output, have another status.
StageOutput to_stage_output(store::SqlResult const& rows) {
  StageOutput output;
  if (rows.empty()) return output;
  auto const metadata = parse_stored_json(rows.text(0, 1));
  if (!metadata || !metadata->is_object()) return output;
  auto const& fields = metadata->get_object();
  if (text_in(fields, "type") != "stage_audit" || text_in(fields, "status") != "success") return output;
  output.stage = text_in(fields, "stage");
  output.text = rows.text(0, 0);
  return output;
}

}  // namespace

store::Async<std::vector<StageUsage>> stage_usage(store::Sql* sql, RunKey run) {
  auto const rows = co_await sql->read(store::statement(kStageUsage, run.value));
  if (!rows) co_return rows.error();
  co_return to_stage_usage(*rows);
}

store::Async<StageOutput> last_stage_output(store::Sql* sql, RunKey run) {
  auto const rows = co_await sql->read(store::statement(kLastOutput, run.value));
  if (!rows) co_return rows.error();
  co_return to_stage_output(*rows);
}

}  // namespace runnel::http

#include <array>
#include <string>

#include "runnel/store/sqlite/reads.h"
#include "runnel/store/usage_range.h"

// The sums of the ledger: usage. Whole days come from the stored sums (migrations/sqlite/001_baseline.sql);
// only the partial days at the ends of a range are counted call by call.
namespace runnel::store::sqlite {

namespace {

constexpr std::size_t kGroups = 4;

std::string key_in_totals(UsageGroup group) {
  switch (group) {
    case UsageGroup::none:
      break;
    case UsageGroup::thread:
      return "thread_ref";
    case UsageGroup::model:
      return "model";
    case UsageGroup::day:
      return "date(day * 86400, 'unixepoch')";
  }
  return "''";
}

std::string key_in_ledger(UsageGroup group) {
  return group == UsageGroup::day ? "date(started_at / 1000, 'unixepoch')" : key_in_totals(group);
}

// For a user without a given thread, the sums over all threads are used, unless the groups are threads. In
// that case the page begins behind the last thread of the previous page.
std::string rows_of_totals(UsageGroup group, bool of_thread) {
  auto const* const threads = of_thread ? "= ?2" : group == UsageGroup::thread ? "> ?5" : "= ''";
  return "SELECT " + key_in_totals(group) +
         " AS key, calls, incomplete_calls, input_tokens, output_tokens, cached_tokens, reasoning_tokens, "
         "cost_high, cost_low FROM usage_totals WHERE owner_id = ?1 AND day >= ?3 AND day < ?4 AND "
         "thread_ref " +
         threads;
}

std::string rows_of_ledger(UsageGroup group, bool of_thread, std::string const& range) {
  return " UNION ALL SELECT " + key_in_ledger(group) +
         ", 1, 1 - usage_complete, input_tokens, output_tokens, cached_tokens, reasoning_tokens, cost >> 32, "
         "cost & 4294967295 FROM model_calls WHERE owner_id = ?1 AND status <> 'open' AND " +
         range + (of_thread ? " AND thread_ref = ?2" : "");
}

// The parameters: ?1 owner, ?2 thread, ?3 and ?4 the whole days, ?5 the last key of the previous page, ?6 the
// number of rows, ?7 to ?10 the partial days. Upper and lower halves are summed separately: see
// sqlite/calls.cc.
std::string usage_sql(UsageGroup group, bool of_thread, bool edges) {
  auto rows = rows_of_totals(group, of_thread);
  if (edges) {
    rows += rows_of_ledger(group, of_thread, "started_at >= ?7 AND started_at < ?8");
    rows += rows_of_ledger(group, of_thread, "started_at >= ?9 AND started_at < ?10");
  }
  return "SELECT key, sum(calls), sum(incomplete_calls), sum(input_tokens >> 32), sum(input_tokens & "
         "4294967295), "
         "sum(output_tokens >> 32), sum(output_tokens & 4294967295), sum(cached_tokens >> 32), "
         "sum(cached_tokens & 4294967295), sum(reasoning_tokens >> 32), sum(reasoning_tokens & 4294967295), "
         "sum(cost_high), sum(cost_low) FROM (" +
         rows + (group == UsageGroup::none ? ")" : ") WHERE key > ?5") +
         " GROUP BY key ORDER BY key LIMIT ?6";
}

// The texts are static, because a connection finds its statements by their addresses.
std::string const& usage_statement(UsageGroup group, bool of_thread, bool edges) {
  using Statements = std::array<std::string, kGroups * 4>;
  static Statements const statements = [] {
    Statements made;
    for (std::size_t i = 0; i < made.size(); ++i) {
      made[i] = usage_sql(static_cast<UsageGroup>(i / 4), (i & 2U) != 0, (i & 1U) != 0);
    }
    return made;
  }();
  return statements[static_cast<std::size_t>(group) * 4 + (of_thread ? 2 : 0) + (edges ? 1 : 0)];
}

std::int64_t saturating_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

std::int64_t joined(std::int64_t high, std::int64_t low) {
  constexpr std::int64_t kHighest = INT64_MAX >> 32;
  return high > kHighest ? INT64_MAX : saturating_add(high << 32, low);
}

UsageRow usage_row(Query const& query) {
  UsageRow row;
  row.key = query.text(0);
  row.calls = query.integer(1);
  row.complete = query.integer(2) == 0;
  row.input_tokens = joined(query.integer(3), query.integer(4));
  row.output_tokens = joined(query.integer(5), query.integer(6));
  row.cached_tokens = joined(query.integer(7), query.integer(8));
  row.reasoning_tokens = joined(query.integer(9), query.integer(10));
  MoneyTotal cost;
  cost.add_halves(query.integer(11), query.integer(12));
  row.cost = to_decimal(cost);
  return row;
}

std::vector<UsageRow> rows_of(Query& query) {
  std::vector<UsageRow> rows;
  while (query.next()) {
    rows.push_back(usage_row(query));
  }
  return rows;
}

std::vector<UsageRow> usage_rows(Db& db, UsageQuery const& query, UsageGroup group, std::size_t limit) {
  auto const range = range_of(query);
  std::string const thread = query.thread ? query.thread->text : "";
  bool const edges = !range.is_whole_days();
  auto const& sql = usage_statement(group, query.thread.has_value(), edges);
  if (!edges) {
    Query rows{db, sql, query.owner.text, thread, range.first_day, range.end_day, query.after, limit};
    return rows_of(rows);
  }
  Query rows{db,          sql,   query.owner.text,  thread,          range.first_day,  range.end_day,
             query.after, limit, range.before.from, range.before.to, range.after.from, range.after.to};
  return rows_of(rows);
}

bool ever_had(Db& db, UserId const& owner, ThreadId const& thread) {
  Query query{db,
              "SELECT EXISTS (SELECT 1 FROM agent_chat_sessions WHERE owner_id = ?1 AND thread_ref = ?2) "
              "OR EXISTS (SELECT 1 FROM model_calls WHERE owner_id = ?1 AND thread_ref = ?2)",
              owner.text, thread.text};
  return query.next() && query.integer(0) != 0;
}

}  // namespace

Result<UsageReport> usage(Db& db, UsageQuery const& query) {
  if (query.thread && !ever_had(db, query.owner, *query.thread)) {
    return Error{Errc::not_found, "no thread " + query.thread->text};
  }
  UsageReport report;
  report.total.cost = "0";
  auto total = usage_rows(db, query, UsageGroup::none, 1);
  if (!total.empty()) report.total = std::move(total.front());
  if (query.group == UsageGroup::none) return report;
  report.rows = usage_rows(db, query, query.group, query.limit + 1);
  report.more = report.rows.size() > query.limit;
  if (report.more) report.rows.resize(query.limit);
  return report;
}

}  // namespace runnel::store::sqlite

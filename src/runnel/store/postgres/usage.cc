#include "runnel/store/postgres/usage.h"

#include "runnel/store/usage_range.h"

namespace runnel::store::postgres {

namespace {

// The first row is the total, which is returned even if there are no calls; the others are the page. The last
// column says whether the owner ever had the thread. $3 and $4 are the whole days, $6 to $9 the partial days
// at both ends, $10 the last key of the previous page, $11 the number of rows. For a user without a given
// thread, the sums over all threads are used, unless the groups are threads.
constexpr char kUsage[] = R"sql(
WITH calls AS (
  SELECT day, thread_ref, model, calls, incomplete_calls, input_tokens, output_tokens, cached_tokens,
         reasoning_tokens, cost
  FROM usage_totals
  WHERE owner_id = $1 AND day >= $3 AND day < $4
    AND CASE WHEN $5::text IS NOT NULL THEN thread_ref = $5 WHEN $2 = 'thread' THEN thread_ref <> ''
             ELSE thread_ref = '' END
  UNION ALL
  SELECT started_at / 86400000, thread_ref, model, 1, CASE WHEN usage_complete THEN 0 ELSE 1 END, input_tokens,
         output_tokens, cached_tokens, reasoning_tokens, cost
  FROM model_calls
  WHERE owner_id = $1 AND status <> 'open' AND ($5::text IS NULL OR thread_ref = $5)
    AND ((started_at >= $6 AND started_at < $7) OR (started_at >= $8 AND started_at < $9))
), named AS (
  SELECT CASE $2 WHEN 'thread' THEN thread_ref WHEN 'model' THEN model
              WHEN 'day' THEN to_char(to_timestamp(day * 86400) AT TIME ZONE 'UTC', 'YYYY-MM-DD')
              ELSE '' END COLLATE "C" AS name, *
  FROM calls
), sums AS (
  SELECT grouping(name) AS is_total, name, coalesce(sum(calls), 0) AS calls, coalesce(sum(input_tokens), 0) AS input,
         coalesce(sum(output_tokens), 0) AS output, coalesce(sum(cached_tokens), 0) AS cached,
         coalesce(sum(reasoning_tokens), 0) AS reasoning, coalesce(sum(cost), 0) AS cost,
         coalesce(sum(incomplete_calls), 0) AS incomplete
  FROM named GROUP BY GROUPING SETS ((), (name))
)
SELECT name, calls, least(input, 9223372036854775807)::bigint, least(output, 9223372036854775807)::bigint,
       least(cached, 9223372036854775807)::bigint, least(reasoning, 9223372036854775807)::bigint,
       trim_scale(cost)::text, incomplete = 0,
       $5::text IS NULL OR EXISTS (SELECT 1 FROM agent_chat_sessions WHERE owner_id = $1 AND thread_ref = $5)
         OR EXISTS (SELECT 1 FROM model_calls WHERE owner_id = $1 AND thread_ref = $5)
FROM sums WHERE is_total = 1 OR name > $10 COLLATE "C"
ORDER BY is_total DESC, name COLLATE "C" LIMIT 1 + $11)sql";

char const* to_string(UsageGroup group) {
  switch (group) {
    case UsageGroup::none:
      return "none";
    case UsageGroup::thread:
      return "thread";
    case UsageGroup::model:
      return "model";
    case UsageGroup::day:
      return "day";
  }
  return "none";
}

UsageRow to_usage_row(Rows const& rows, int i) {
  UsageRow row;
  row.key = rows.text(i, 0);
  row.calls = rows.integer(i, 1);
  row.input_tokens = rows.integer(i, 2);
  row.output_tokens = rows.integer(i, 3);
  row.cached_tokens = rows.integer(i, 4);
  row.reasoning_tokens = rows.integer(i, 5);
  row.cost = rows.text(i, 6);
  row.complete = rows.boolean(i, 7);
  return row;
}

}  // namespace

Statement usage_statement(UsageQuery const& query) {
  auto const thread = query.thread ? std::optional{query.thread->text} : std::nullopt;
  auto const range = range_of(query);
  return Statement{kUsage,      query.owner.text,  to_string(query.group), range.first_day,  range.end_day,
                   thread,      range.before.from, range.before.to,        range.after.from, range.after.to,
                   query.after, query.limit + 1};
}

Result<UsageReport> to_usage(Rows const& rows, UsageGroup group, std::size_t limit) {
  if (!rows.boolean(0, 8)) return Error{Errc::not_found, "no such thread"};
  UsageReport report;
  report.total = to_usage_row(rows, 0);
  if (group == UsageGroup::none) return report;
  for (int i = 1; i < rows.size(); ++i) {
    report.rows.push_back(to_usage_row(rows, i));
  }
  report.more = report.rows.size() > limit;
  if (report.more) report.rows.resize(limit);
  return report;
}

}  // namespace runnel::store::postgres

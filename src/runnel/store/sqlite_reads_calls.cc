#include "runnel/store/sqlite_reads.h"

// What is read of the ledger: unbooked_calls and usage.
namespace runnel::store::sqlite {

namespace {

// Sums are of upper and lower halves: see sqlite_calls.cc. The groups are UsageGroup's numbers.
std::string const kUsage =
    "SELECT CASE ?2 WHEN 1 THEN thread_ref WHEN 2 THEN model "
    "WHEN 3 THEN date(started_at / 1000, 'unixepoch') ELSE '' END AS name, count(*), "
    "sum(input_tokens >> 32), sum(input_tokens & 4294967295), "
    "sum(output_tokens >> 32), sum(output_tokens & 4294967295), "
    "sum(cached_tokens >> 32), sum(cached_tokens & 4294967295), "
    "sum(reasoning_tokens >> 32), sum(reasoning_tokens & 4294967295), "
    "sum(cost >> 32), sum(cost & 4294967295), min(usage_complete) FROM model_calls "
    "WHERE status <> 'open' AND started_at >= ?3 AND started_at < ?4 AND owner_id = ?1 ";
std::string const kUsageOfUser = kUsage + "GROUP BY name ORDER BY name";
std::string const kUsageOfThread = kUsage + "AND thread_ref = ?5 GROUP BY name ORDER BY name";

constexpr char kUnbooked[] =
    "SELECT id, status, stage, provider, model, started_at, input_estimate, cost_estimate, input_tokens, "
    "output_tokens, total_tokens, cached_tokens, cache_hit_tokens, cache_miss_tokens, cache_write_tokens, "
    "reasoning_tokens, usage_complete, direct_cost, direct_observed, catalog_cost, price_list, price "
    "FROM model_calls WHERE run_id = ?1 AND message_id IS NULL ORDER BY row_no";

static_assert(static_cast<int>(UsageGroup::thread) == 1 && static_cast<int>(UsageGroup::model) == 2 &&
              static_cast<int>(UsageGroup::day) == 3);

std::int64_t saturating_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

std::int64_t joined(std::int64_t high, std::int64_t low) {
  constexpr std::int64_t kHighest = INT64_MAX >> 32;
  return high > kHighest ? INT64_MAX : saturating_add(high << 32, low);
}

// All but the cost.
void add(UsageRow& total, UsageRow const& row) {
  total.calls += row.calls;
  total.input_tokens = saturating_add(total.input_tokens, row.input_tokens);
  total.output_tokens = saturating_add(total.output_tokens, row.output_tokens);
  total.cached_tokens = saturating_add(total.cached_tokens, row.cached_tokens);
  total.reasoning_tokens = saturating_add(total.reasoning_tokens, row.reasoning_tokens);
  total.complete = total.complete && row.complete;
}

UsageRow usage_row(Query const& query) {
  UsageRow row;
  row.key = query.text(0);
  row.calls = query.integer(1);
  row.input_tokens = joined(query.integer(2), query.integer(3));
  row.output_tokens = joined(query.integer(4), query.integer(5));
  row.cached_tokens = joined(query.integer(6), query.integer(7));
  row.reasoning_tokens = joined(query.integer(8), query.integer(9));
  MoneyTotal cost;
  cost.add_halves(query.integer(10), query.integer(11));
  row.cost = to_decimal(cost);
  row.complete = query.integer(12) != 0;
  return row;
}

UsageReport report(Query& query, UsageGroup group) {
  UsageReport out;
  MoneyTotal cost;
  while (query.next()) {
    auto row = usage_row(query);
    add(out.total, row);
    cost.add_halves(query.integer(10), query.integer(11));
    if (group != UsageGroup::none) out.rows.push_back(std::move(row));
  }
  out.total.cost = to_decimal(cost);
  return out;
}

bool ever_had(Db& db, UserId const& owner, ThreadId const& thread) {
  Query query{db,
              "SELECT EXISTS (SELECT 1 FROM agent_chat_sessions WHERE owner_id = ?1 AND thread_ref = ?2) "
              "OR EXISTS (SELECT 1 FROM model_calls WHERE owner_id = ?1 AND thread_ref = ?2)",
              owner.text, thread.text};
  return query.next() && query.integer(0) != 0;
}

UnbookedCall unbooked_call(Query const& query) {
  UnbookedCall call;
  call.id = query.text(0);
  call.status = parse_call_status(query.text(1)).value();
  call.stage = query.text(2);
  call.provider = query.text(3);
  call.model = query.text(4);
  call.started_at = query.integer(5);
  call.input_estimate = query.integer(6);
  call.cost_estimate = Money{query.integer(7)};
  call.tokens.input = query.integer(8);
  call.tokens.output = query.integer(9);
  call.tokens.total = query.integer(10);
  call.tokens.cached = query.integer(11);
  call.tokens.cache_hit = query.integer(12);
  call.tokens.cache_miss = query.integer(13);
  call.tokens.cache_write = query.integer(14);
  call.tokens.reasoning = query.integer(15);
  call.tokens.complete = query.integer(16) != 0;
  if (!query.is_null(17)) call.cost.direct = Money{query.integer(17)};
  call.cost.direct_observed = query.integer(18) != 0;
  call.cost.catalog = Money{query.integer(19)};
  call.cost.list = parse_price_list(query.text(20)).value();
  call.cost.price = query.text(21);
  return call;
}

}  // namespace

Result<std::vector<UnbookedCall>> unbooked_calls(Db& db, RunKey run) {
  Query query{db, kUnbooked, run.value};
  std::vector<UnbookedCall> calls;
  while (query.next()) {
    calls.push_back(unbooked_call(query));
  }
  return calls;
}

Result<UsageReport> usage(Db& db, UsageQuery const& query) {
  auto const group = static_cast<int>(query.group);
  auto const from = query.from.value_or(INT64_MIN);
  auto const to = query.to.value_or(INT64_MAX);
  if (!query.thread) {
    Query rows{db, kUsageOfUser, query.owner.text, group, from, to};
    return report(rows, query.group);
  }
  if (!ever_had(db, query.owner, *query.thread)) {
    return Error{Errc::not_found, "no thread " + query.thread->text};
  }
  Query rows{db, kUsageOfThread, query.owner.text, group, from, to, query.thread->text};
  return report(rows, query.group);
}

}  // namespace runnel::store::sqlite

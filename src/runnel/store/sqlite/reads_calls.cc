#include "runnel/store/sqlite/reads.h"

// What a run's next writer reads from the ledger: unbooked_calls.
namespace runnel::store::sqlite {

namespace {

constexpr char kUnbooked[] =
    "SELECT id, status, stage, provider, model, started_at, input_estimate, cost_estimate, input_tokens, "
    "output_tokens, total_tokens, cached_tokens, cache_hit_tokens, cache_miss_tokens, cache_write_tokens, "
    "reasoning_tokens, usage_complete, direct_cost, direct_observed, catalog_cost, price_list, price "
    "FROM model_calls WHERE run_id = ?1 AND message_id IS NULL ORDER BY row_no";

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

}  // namespace runnel::store::sqlite

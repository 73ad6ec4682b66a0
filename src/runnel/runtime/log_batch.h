#pragma once

#include <cstdint>
#include <vector>

#include "runnel/core/fact.h"
#include "runnel/core/fact_json.h"
#include "runnel/store/rows.h"

namespace runnel::runtime {

// Facts that are written without a writer, as a row of the log: numbered from `first_n` on.
inline store::LogBatch make_batch(std::uint64_t first_n, std::int64_t next_idx, std::int64_t now_us,
                                  std::vector<Fact> facts) {
  store::LogBatch batch;
  batch.first_n = batch.last_n = first_n;
  batch.next_idx = next_idx;
  for (auto& fact : facts) {
    batch.last_n = first_n++;
    batch.body += batch.body.empty() ? '[' : ',';
    auto const idx = has_task_event(fact) ? batch.next_idx++ : -1;
    append_record_json(batch.body, {{0, batch.last_n}, idx, now_us, std::move(fact)});
  }
  batch.body += ']';
  return batch;
}

}  // namespace runnel::runtime

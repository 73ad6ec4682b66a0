#include "runnel/runtime/writing/log_tail.h"

#include <utility>

#include "runnel/core/fact/fact_json.h"

namespace runnel::runtime {

LogTail LogTail::of_unreadable(std::uint64_t last_n, std::int64_t next_idx) {
  LogTail tail;
  tail.order_.reset();
  tail.last_n_ = last_n;
  tail.next_idx_ = next_idx;
  return tail;
}

Result<Record> LogTail::add(Fact fact, std::int64_t now_us) {
  if (order_) {
    auto const accepted = order_->accept(fact);
    if (!accepted) return accepted.error();
  }
  auto const idx = has_task_event(fact) ? next_idx_++ : -1;
  Record record{{epoch_, ++last_n_}, idx, now_us, std::move(fact)};
  if (body_.empty()) first_n_ = last_n_;
  body_ += body_.empty() ? '[' : ',';
  append_record_json(body_, record);
  return record;
}

store::LogBatch LogTail::take() {
  return {first_n_, last_n_, next_idx_, std::exchange(body_, {}) + ']'};
}

}  // namespace runnel::runtime

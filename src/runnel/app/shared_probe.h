#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "runnel/base/clock.h"
#include "runnel/base/handoff.h"
#include "runnel/store/store.h"

namespace runnel::app {

// Runs a costly probe for any number of callers, so that many calls cost no more than a few. Only one probe
// runs at a time, callers that ask meanwhile get its outcome, and the outcome is reused for `keep`. Any core
// may ask.
class SharedProbe {
 public:
  using Probe = std::function<store::Async<void>()>;

  // `clock` must outlive this object.
  SharedProbe(Probe probe, base::Clock const& clock, std::chrono::milliseconds keep);

  store::Async<void> ask();

 private:
  using Reply = std::unique_ptr<base::Reply<void>>;
  enum class Turn { known, wait, probe };

  Turn take_turn();
  void join(Reply reply);
  void settle(Result<void> const& outcome);
  [[nodiscard]] bool is_fresh() const;

  Probe const probe_;
  base::Clock const& clock_;
  std::chrono::milliseconds const keep_;
  std::mutex mutex_;  // Guards everything below.
  std::optional<Result<void>> last_;
  std::int64_t last_at_ = 0;
  bool probing_ = false;
  std::vector<Reply> waiting_;
};

}  // namespace runnel::app

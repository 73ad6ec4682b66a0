#pragma once

#include <string>
#include <vector>

#include "runnel/store/testing/store_contract.h"

namespace runnel::store {

// --- Records for the ledger, with default values for what a test does not care about ---

NewCall new_call(std::string id, Admission const& run, Money reserve = Money{1000});
CallEnd call_end(std::string id, Money provisional, CallStatus status = CallStatus::completed);
CallBooking booking(std::string id, std::string message, Money cost);

// A test of the ledger, with ann's run r1 on t1.
class LedgerContract : public StoreContract {
 protected:
  void SetUp() override;

  Result<void> open(NewCall call) { return run_async(store().open_call(std::move(call))); }
  Result<void> open(std::string id, Money reserve = Money{1000}) {
    return open(new_call(std::move(id), run_, reserve));
  }

  // Appends the next batch of r1 with these rows. The numbers advance only if it succeeds.
  Result<void> append(std::vector<NewMessage> messages, std::vector<CallEnd> ends,
                      std::vector<CallBooking> bookings = {});
  // The same for the end of one call, which must be open.
  void end_call(std::string id, Money provisional);

  // "status:pico" of a call; the cost is the amount that it counts for.
  std::string state(std::string const& id);
  std::string calls() { return cell("SELECT count(*) FROM model_calls"); }

  // An amount as an SQL literal of the engine.
  std::string amount(std::int64_t pico) const;

  Admission run_;
  std::uint64_t next_n_ = 3;
};

}  // namespace runnel::store

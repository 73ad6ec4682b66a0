#pragma once

#include <string>
#include <vector>

#include "runnel/store/store_contract.h"

namespace runnel::store {

// --- What goes into the ledger, with what a test does not care about filled in ---

NewCall new_call(std::string id, Admission const& run, Money reserve = Money{1000});
CallEnd call_end(std::string id, Money provisional, CallStatus status = CallStatus::completed);
CallBooking booking(std::string id, std::string message, Money cost);

// ann's run r1 on t1, and its ledger.
class LedgerContract : public StoreContract {
 protected:
  void SetUp() override;

  Result<void> open(NewCall call) { return run_async(store().open_call(std::move(call))); }
  Result<void> open(std::string id, Money reserve = Money{1000}) {
    return open(new_call(std::move(id), run_, reserve));
  }

  // Appends the next batch of r1 with these; the numbers move on where it succeeds.
  Result<void> append(std::vector<NewMessage> messages, std::vector<CallEnd> ends,
                      std::vector<CallBooking> bookings = {});
  // Likewise of one call that must be open.
  void end_call(std::string id, Money provisional);

  // "status:pico" of a call; the cost is what it counts.
  std::string state(std::string const& id);
  std::string calls() { return cell("SELECT count(*) FROM model_calls"); }

  // An amount as a literal of the engine's.
  std::string amount(std::int64_t pico) const;

  Admission run_;
  std::uint64_t next_n_ = 3;
};

}  // namespace runnel::store

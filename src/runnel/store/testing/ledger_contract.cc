#include "runnel/store/testing/ledger_contract.h"

#include <utility>

namespace runnel::store {

NewCall new_call(std::string id, Admission const& run, Money reserve) {
  NewCall call;
  call.id = std::move(id);
  call.run = run.run;
  call.epoch = run.epoch;
  call.stage = "answer";
  call.provider = "deepseek";
  call.model = "deepseek-chat";
  call.started_at = kNow;
  call.input_estimate = 70;
  call.cost_estimate = Money{reserve.pico / 2};
  call.reserve = reserve;
  return call;
}

CallEnd call_end(std::string id, Money provisional, CallStatus status) {
  CallEnd end;
  end.id = std::move(id);
  end.status = status;
  end.ended_at = kNow + 5;
  end.latency_ms = 5;
  end.first_token_ms = 2;
  end.tokens = TokenCounts{100, 40, 140, 60, 60, 40, 8, 15, true};
  end.cost.catalog = provisional;
  end.cost.list = PriceList::custom_pricing;
  end.cost.price = R"({"model":"deepseek-chat"})";
  end.provisional = provisional;
  return end;
}

CallBooking booking(std::string id, std::string message, Money cost) {
  CallBooking out;
  out.id = std::move(id);
  out.message = MessageId{std::move(message)};
  out.cost = cost;
  return out;
}

void LedgerContract::SetUp() {
  StoreContract::SetUp();
  if (!IsSkipped()) run_ = admit(admission("r1"));
}

Result<void> LedgerContract::append(std::vector<NewMessage> messages, std::vector<CallEnd> ends,
                                    std::vector<CallBooking> bookings) {
  auto request = append_request(run_.run, run_.epoch, batch(next_n_, next_n_), std::move(messages));
  request.call_ends = std::move(ends);
  request.bookings = std::move(bookings);
  auto outcome = run_async(store().append(std::move(request)));
  if (outcome) ++next_n_;
  return outcome;
}

void LedgerContract::end_call(std::string id, Money provisional) {
  append({}, {call_end(std::move(id), provisional)}).value();
}

std::string LedgerContract::state(std::string const& id) {
  auto const rows =
      sql("SELECT status, CAST(cost * " + std::string{amount(1) == "1" ? "1" : "1000000000000"} +
          " AS bigint) FROM model_calls WHERE id = '" + id + "'");
  return rows.empty() ? "none" : rows[0][0] + ":" + rows[0][1];
}

std::string LedgerContract::amount(std::int64_t pico) const {
  return GetParam().name == "Sqlite" ? std::to_string(pico) : to_decimal(Money{pico});
}

}  // namespace runnel::store

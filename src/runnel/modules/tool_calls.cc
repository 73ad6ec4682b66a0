#include "runnel/modules/tool_calls.h"

#include <utility>

namespace runnel::modules {

using store::Async;

namespace {

constexpr std::string_view kData = R"({"data":)";
constexpr std::string_view kPartial = R"({"partial":)";
constexpr std::string_view kError = R"({"error":)";

constexpr char kFind[] = R"sql(
SELECT c.receipt, r.profile, (SELECT s.bytes FROM storage_totals s WHERE s.owner_id = r.owner_id), c.name,
       c.args_hash
FROM runs r JOIN tool_calls c ON c.run_id = r.id
WHERE r.owner_id = $1 AND r.run_ref = $2 AND c.id = $3 AND c.epoch = $4 AND c.status = 'open')sql";

// A call of a run whose cancel was accepted has no effect any more (RUN-4).
constexpr char kTakeEffect[] = R"sql(
UPDATE tool_calls SET receipt = $5
WHERE run_id = (SELECT id FROM runs WHERE owner_id = $1 AND run_ref = $2 AND cancel_at IS NULL)
  AND id = $3 AND epoch = $4 AND status = 'open' AND receipt IS NULL)sql";

constexpr char kFail[] = R"sql(
UPDATE tool_calls SET receipt = $5
WHERE run_id = (SELECT id FROM runs WHERE owner_id = $1 AND run_ref = $2)
  AND id = $3 AND epoch = $4 AND status = 'open' AND receipt IS NULL)sql";

std::optional<std::string_view> member_in(std::string_view receipt, std::string_view opening) {
  if (!receipt.starts_with(opening)) return std::nullopt;
  receipt.remove_prefix(opening.size());
  receipt.remove_suffix(1);
  return receipt;
}

store::SqlStatement about(char const* text, base::ToolGrant const& grant) {
  return store::statement(text, grant.user.text, grant.run.text, grant.call.text,
                          static_cast<std::int64_t>(grant.epoch));
}

store::SqlStatement keep_receipt(char const* text, base::ToolGrant const& grant, std::string receipt) {
  auto out = about(text, grant);
  out.parameters.emplace_back(std::move(receipt));
  return std::move(out).touching(1);
}

// The receipt comes last, because the end of a run usually locks in the same order: sums of storage, then
// tool calls.
std::vector<store::SqlStatement> with_receipt(base::ToolGrant const& grant, std::string receipt,
                                              std::vector<store::SqlStatement> effect) {
  effect.push_back(keep_receipt(kTakeEffect, grant, std::move(receipt)));
  return effect;
}

OpenCall to_call(store::SqlResult const& found) {
  OpenCall call;
  call.receipt = found.text(0, 0);
  call.profile = found.text(0, 1);
  call.stored_bytes = found.integer(0, 2);
  call.name = found.text(0, 3);
  call.args_hash = found.text(0, 4);
  return call;
}

Error taken_over() {
  return {Errc::fenced, "the tool call is closed, or another writer has it"};
}

}  // namespace

std::string receipt_of_effect(std::string_view data, bool partial) {
  return std::string{partial ? kPartial : kData}.append(data).append("}");
}

std::string receipt_of_failure(std::string_view error) {
  return std::string{kError}.append(error).append("}");
}

std::optional<std::string_view> data_in(std::string_view receipt) {
  auto const whole = member_in(receipt, kData);
  return whole ? whole : member_in(receipt, kPartial);
}

bool is_partial(std::string_view receipt) {
  return receipt.starts_with(kPartial);
}

std::optional<std::string_view> error_in(std::string_view receipt) {
  return member_in(receipt, kError);
}

Async<std::optional<OpenCall>> ToolCalls::find(base::ToolGrant grant) {
  auto const found = co_await sql_->read(about(kFind, grant));
  if (!found) co_return found.error();
  if (found->empty()) co_return std::nullopt;
  co_return to_call(*found);
}

Async<void> ToolCalls::take_effect(base::ToolGrant grant, std::string receipt,
                                   std::vector<store::SqlStatement> effect) {
  auto const written = co_await sql_->write(with_receipt(grant, std::move(receipt), std::move(effect)));
  if (!written) co_return written.error();
  co_return Result<void>{};
}

Async<std::string> ToolCalls::settle(base::ToolGrant grant, std::string failure) {
  auto const written = co_await sql_->write_one(keep_receipt(kFail, grant, failure));
  if (written) co_return failure;
  if (written.error().code != Errc::conflict) co_return written.error();
  auto const found = co_await find(grant);
  if (!found) co_return found.error();
  if (!*found || (*found)->receipt.empty()) co_return taken_over();
  co_return (*found)->receipt;
}

}  // namespace runnel::modules

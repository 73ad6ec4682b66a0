#include "runnel/store/postgres/rows.h"

#include <array>
#include <sstream>
#include <utility>

#include "runnel/base/log/log.h"
#include "runnel/core/fact/position.h"
#include "runnel/core/json/write.h"
#include "runnel/store/page.h"

namespace runnel::store::postgres {

namespace {

void append_message(std::string& out, NewMessage const& message) {
  JsonObject object{out};
  object.text("id", message.id.text)
      .text("lane", message.lane == Lane::visible ? "visible" : "audit")
      .text("role", store::to_string(message.role))
      .text("content", message.content)
      .text("metadata", message.metadata)
      .number("mask", message.mask)
      .number("input_tokens", message.input_tokens)
      .number("output_tokens", message.output_tokens)
      .number("pico", message.cost.pico);
  if (!message.opens_call.empty()) object.text("opens", message.opens_call.text);
  if (!message.closes_call.empty()) object.text("closes", message.closes_call.text);
  object.close();
}

Admission::Outcome parse_outcome(std::string const& text) {
  using Outcome = Admission::Outcome;
  constexpr std::array kNames{std::pair{"running", Outcome::running},
                              std::pair{"queued", Outcome::queued},
                              std::pair{"existing", Outcome::existing},
                              std::pair{"id_conflict", Outcome::id_conflict},
                              std::pair{"too_many_runs", Outcome::too_many_runs},
                              std::pair{"over_budget", Outcome::over_budget},
                              std::pair{"over_quota", Outcome::over_quota}};
  for (auto const& [name, outcome] : kNames) {
    if (text == name) return outcome;
  }
  return Outcome::thread_busy;
}

// The text is "epoch-first_n epoch-first_n …".
std::vector<EpochStart> parse_epochs(std::string const& text) {
  std::vector<EpochStart> epochs;
  std::istringstream in{text};
  for (std::string word; in >> word;) {
    auto const position = parse_position(word).value();
    epochs.push_back({position.epoch, position.n});
  }
  return epochs;
}

}  // namespace

std::optional<std::string> messages_json(std::vector<NewMessage> const& messages) {
  return array_json(messages, append_message);
}

std::string begin_json(Begin const& begin) {
  std::string out;
  JsonObject object{out};
  if (!begin.user_message.id.empty()) append_message(object.key("message"), begin.user_message);
  if (!begin.closings.empty()) append_json_array(object.key("closings"), begin.closings, append_message);
  object.text("title", begin.title)
      .number("last_n", static_cast<std::int64_t>(begin.facts.last_n))
      .number("next_idx", begin.facts.next_idx)
      .text("body", begin.facts.body);
  object.close();
  return out;
}

std::optional<std::string> unless_empty(std::string const& text) {
  return text.empty() ? std::nullopt : std::optional{text};
}

char const* to_string(OnBusy policy) {
  switch (policy) {
    case OnBusy::reject:
      return "reject";
    case OnBusy::enqueue:
      return "enqueue";
    case OnBusy::interrupt:
      return "interrupt";
    case OnBusy::rollback:
      return "rollback";
  }
  return "reject";
}

Result<Admission> to_admission(Rows const& rows) {
  Admission admission;
  admission.outcome = parse_outcome(rows.text(0, 0));
  admission.run = RunKey{rows.integer(0, 1)};
  admission.thread = ThreadKey{rows.integer(0, 2)};
  admission.thread_id = ThreadId{rows.text(0, 3)};
  admission.epoch = rows.integer(0, 4);
  admission.status = parse_run_status(rows.text(0, 5)).value();
  if (!rows.is_null(0, 6)) admission.cancel_first = RunKey{rows.integer(0, 6)};
  admission.stored_bytes = rows.integer(0, 7);
  admission.profile = rows.text(0, 8);
  return admission;
}

Result<Claim> to_claim(Rows const& rows) {
  Claim claim;
  claim.epoch = rows.integer(0, 0);
  claim.previous_epoch = rows.integer(0, 1);
  claim.last_n = static_cast<std::uint64_t>(rows.integer(0, 2));
  claim.next_idx = rows.integer(0, 3);
  claim.cancel_requested = rows.boolean(0, 4);
  claim.crashes = rows.integer(0, 5);
  return claim;
}

Result<Ended> to_ended(Rows const& rows) {
  Ended ended;
  if (!rows.is_null(0, 0)) ended.promoted = RunKey{rows.integer(0, 0)};
  ended.canceled = rows.boolean(0, 1);
  return ended;
}

Result<DeleteOutcome> to_delete_outcome(Rows const& rows) {
  auto const text = rows.text(0, 0);
  if (text == "deleted") return DeleteOutcome::deleted;
  return text == "busy" ? DeleteOutcome::busy : DeleteOutcome::not_found;
}

Result<std::size_t> to_purged(Rows const& rows) {
  std::int64_t deleted = 0;
  for (int i = 0; i < rows.size(); ++i) {
    deleted += rows.integer(i, 0);
    if (rows.is_null(i, 3)) continue;
    bool const is_log = !rows.is_null(i, 1);
    base::log(
        base::LogLevel::warn,
        "cannot delete the rows of an expired log or a deleted thread; will try again later",
        {{is_log ? "run_row" : "thread_row", rows.integer(i, is_log ? 1 : 2)}, {"detail", rows.text(i, 3)}});
  }
  return static_cast<std::size_t>(deleted);
}

std::vector<RunRow> to_runs(Rows const& rows) {
  constexpr int kAfterEpoch = 21;  // Only in a search by name.
  std::vector<RunRow> out(static_cast<std::size_t>(rows.size()));
  for (int i = 0; i < rows.size(); ++i) {
    auto& run = out[static_cast<std::size_t>(i)];
    run.key = RunKey{rows.integer(i, 0)};
    run.thread = ThreadKey{rows.integer(i, 1)};
    run.owner = UserId{rows.text(i, 2)};
    run.thread_id = ThreadId{rows.text(i, 3)};
    run.id = RunId{rows.text(i, 4)};
    run.status = parse_run_status(rows.text(i, 5)).value();
    run.mode = rows.text(i, 6) == "chat" ? RuntimeMode::chat : RuntimeMode::automation;
    run.epoch = rows.integer(i, 7);
    run.last_n = static_cast<std::uint64_t>(rows.integer(i, 8));
    run.next_idx = rows.integer(i, 9);
    run.cancel_requested = rows.boolean(i, 10);
    run.log_expired = rows.boolean(i, 11);
    run.input = rows.text(i, 12);
    run.agui_version = rows.text(i, 13);
    run.error_code = rows.text(i, 14);
    run.error_id = rows.text(i, 15);
    run.created_at = rows.integer(i, 16);
    run.started_at = rows.integer(i, 17);
    run.ended_at = rows.integer(i, 18);
    run.epochs = parse_epochs(rows.text(i, 19));
    run.profile = rows.text(i, 20);
    if (rows.columns() > kAfterEpoch && !rows.is_null(i, kAfterEpoch)) {
      run.before_alias = Position{rows.integer(i, kAfterEpoch),
                                  static_cast<std::uint64_t>(rows.integer(i, kAfterEpoch + 1))};
    }
  }
  return out;
}

Result<std::optional<RunRow>> to_run(Rows const& rows) {
  auto runs = to_runs(rows);
  return runs.empty() ? std::nullopt : std::optional{std::move(runs.front())};
}

std::vector<ThreadRow> to_threads(Rows const& rows) {
  std::vector<ThreadRow> out(static_cast<std::size_t>(rows.size()));
  for (int i = 0; i < rows.size(); ++i) {
    auto& thread = out[static_cast<std::size_t>(i)];
    thread.key = ThreadKey{rows.integer(i, 0)};
    thread.id = ThreadId{rows.text(i, 1)};
    if (!rows.is_null(i, 2)) thread.title = rows.text(i, 2);
    thread.status = parse_thread_status(rows.text(i, 3)).value();
    thread.created_at = rows.integer(i, 4);
    thread.updated_at = rows.integer(i, 5);
    if (!rows.is_null(i, 6)) thread.active_run = RunId{rows.text(i, 6)};
    if (!rows.is_null(i, 7)) thread.queued_runs = split_run_ids(rows.text(i, 7));
  }
  return out;
}

}  // namespace runnel::store::postgres

#include "runnel/http/routes/stage_routes.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>

#include "runnel/api/problem.h"
#include "runnel/base/log/log.h"
#include "runnel/core/json/write.h"
#include "runnel/core/time/instant.h"
#include "runnel/http/routes/report_gate.h"
#include "runnel/http/routes/run_lookup.h"
#include "runnel/http/routes/stage_rows.h"

namespace runnel::http {

namespace asio = boost::asio;

namespace {

// How much of a run's log or checkpoints is read and parsed at once.
constexpr std::size_t kStagePageBytes = std::size_t{128} * 1024;
// A longer result is not part of the answer.
constexpr std::size_t kLongestResult = std::size_t{64} * 1024;
// About the size of a large answer.
constexpr std::size_t kStagesAnswer = std::size_t{256} * 1024;

struct StageRoutes {
  store::Database& store;
  base::FairPool& reading;
  std::shared_ptr<ReportGate> gate;
};

// What is read of a run, piece by piece. Parsing takes a while, so it is not done on a core.
class StageReader {
 public:
  StageReader(StageRoutes routes, UserId user, store::RunRow const& run)
      : routes_{std::move(routes)}, user_{std::move(user)}, run_{run.key}, names_{run.thread_id, run.id} {}

  // Fails with `not_found` if the log has expired or cannot be read. `last_n` is where the log ends at least.
  asio::awaitable<Result<void>> read(std::uint64_t last_n);

  [[nodiscard]] runtime::StageRecords const& records() const { return records_; }
  [[nodiscard]] StageUsage const* usage(std::string const& stage) const;

 private:
  asio::awaitable<Result<void>> read_log(std::uint64_t last_n);
  asio::awaitable<Result<void>> read_checkpoints();
  asio::awaitable<Result<void>> read_output();
  asio::awaitable<Result<void>> parse(std::vector<store::LogRow> rows);
  asio::awaitable<Result<void>> parse(std::vector<store::Checkpoint> checkpoints);

  StageRoutes const routes_;
  UserId const user_;
  RunKey const run_;
  RunNames const names_;
  runtime::StageRecords records_{kLongestResult};
  std::vector<StageUsage> usage_;
};

StageUsage const* StageReader::usage(std::string const& stage) const {
  auto const found = std::find_if(usage_.begin(), usage_.end(),
                                  [&](StageUsage const& known) { return known.stage == stage; });
  return found != usage_.end() ? &*found : nullptr;
}

// The log comes first: whatever it tells of a stage, the other rows then have.
asio::awaitable<Result<void>> StageReader::read(std::uint64_t last_n) {
  auto const log = co_await read_log(last_n);
  if (!log) co_return log.error();
  auto const checkpoints = co_await read_checkpoints();
  if (!checkpoints) co_return checkpoints.error();
  auto const output = co_await read_output();
  if (!output) co_return output.error();
  auto usage = co_await stage_usage(&routes_.store, run_);
  if (!usage) co_return usage.error();
  usage_ = std::move(*usage);
  co_return Result<void>{};
}

asio::awaitable<Result<void>> StageReader::read_log(std::uint64_t last_n) {
  for (std::uint64_t n = 0;;) {
    auto rows = co_await routes_.store.read_log(run_, n, kStagePageBytes);
    if (!rows) co_return rows.error();
    if (rows->empty() && n < last_n) co_return Error{Errc::not_found, "the log has expired meanwhile"};
    if (rows->empty()) co_return Result<void>{};
    n = rows->back().last_n;
    auto const parsed = co_await parse(std::move(*rows));
    if (!parsed) co_return parsed.error();
  }
}

asio::awaitable<Result<void>> StageReader::read_checkpoints() {
  for (std::int64_t number = 0;;) {
    auto page = co_await routes_.store.checkpoints(run_, number, kStagePageBytes);
    if (!page) co_return page.error();
    if (page->empty()) co_return Result<void>{};
    number = page->back().number;
    auto const parsed = co_await parse(std::move(*page));
    if (!parsed) co_return parsed.error();
  }
}

// Plain functions: g++ 12 mishandles captures in the arguments of a co_await (CONTRIBUTING.md).
asio::awaitable<Result<void>> StageReader::parse(std::vector<store::LogRow> rows) {
  return routes_.reading.run<void>(user_.text, [this, rows = std::move(rows)]() -> Result<void> {
    for (auto const& row : rows) {
      auto const added = records_.add(row);
      if (added) continue;
      base::log(
          base::LogLevel::error, "log row is unreadable",
          {{"run_id", names_.run.text}, {"thread_id", names_.thread.text}, {"detail", added.error().detail}});
      return Error{Errc::not_found, "the log can no longer be read"};
    }
    return {};
  });
}

asio::awaitable<Result<void>> StageReader::parse(std::vector<store::Checkpoint> checkpoints) {
  return routes_.reading.run<void>(user_.text,
                                   [this, checkpoints = std::move(checkpoints)]() -> Result<void> {
                                     for (auto const& checkpoint : checkpoints)
                                       records_.add(checkpoint);
                                     return {};
                                   });
}

asio::awaitable<Result<void>> StageReader::read_output() {
  if (records_.answering_stage().empty()) co_return Result<void>{};
  auto const output = co_await last_stage_output(&routes_.store, run_);
  if (!output) co_return output.error();
  auto const* const found = &*output;
  co_return co_await routes_.reading.run<void>(user_.text, [this, found]() -> Result<void> {
    records_.add_output(found->stage, found->text);
    return {};
  });
}

void append_time(JsonObject& object, char const* name, std::int64_t at) {
  if (at != 0) object.text(name, to_rfc3339(at));
}

void append_call(std::string& out, runtime::StageRecord::Call const& call) {
  JsonObject object{out};
  object.text("id", call.id.text).text("name", call.name);
  object.text("status", call.status ? to_string(*call.status) : "open");
  if (call.approval) object.text("approval", to_string(*call.approval));
  append_time(object, "startedAt", call.started_at);
  append_time(object, "endedAt", call.ended_at);
  object.close();
}

void append_result(JsonObject& object, runtime::StageRecord const& stage) {
  if (!stage.result.empty()) {
    object.raw("result", stage.result);
  } else if (stage.result_bytes == 0) {
    object.null("result");
  } else {
    JsonObject{object.key("result")}
        .boolean("omitted", true)
        .number("bytes", static_cast<std::int64_t>(stage.result_bytes))
        .close();
  }
}

void append_stage(std::string& out, runtime::StageRecord const& stage, StageUsage const& usage) {
  JsonObject object{out};
  object.text("name", stage.name).text("status", to_string(stage.status));
  append_time(object, "startedAt", stage.started_at);
  append_time(object, "endedAt", stage.ended_at);
  append_json_array(object.key("models"), usage.models, append_json_string);
  object.number("inputTokens", usage.input_tokens).number("outputTokens", usage.output_tokens);
  object.text("cost", to_decimal(usage.cost)).boolean("usageComplete", usage.complete);
  object.number("repairs", outputs_sent_back(stage, usage.calls));
  append_json_array(object.key("toolCalls"), stage.calls, append_call);
  append_result(object, stage);
  object.close();
}

std::string stages_json(store::RunRow const& run, StageReader const& reader) {
  std::string body;
  JsonObject object{body};
  object.text("threadId", run.thread_id.text).text("runId", run.id.text);
  object.text("status", to_string(reader.records().ended_as().value_or(run.status)));
  object.text("currency", store::UsageReport{}.currency);
  append_json_array(object.key("stages"), reader.records().stages(),
                    [&](std::string& out, runtime::StageRecord const& stage) {
                      auto const* const usage = reader.usage(stage.name);
                      append_stage(out, stage, usage != nullptr ? *usage : StageUsage{});
                    });
  object.close();
  return body;
}

asio::awaitable<api::Reply> show_stages(StageRoutes routes, api::Request request) {
  ReportGate::Slot const slot{routes.gate, request.user};
  if (slot.verdict() != ReportGate::Verdict::enters) co_return too_many_reports(slot.verdict());
  auto found = co_await find_run(&routes.store, &request);
  if (auto* refusal = std::get_if<api::Response>(&found)) co_return std::move(*refusal);
  auto const& run = std::get<NamedRun>(found).row;
  if (run.log_expired) co_return events_expired(run);

  StageReader reader{routes, request.user, run};
  auto const read = co_await reader.read(run.last_n);
  if (!read && read.error().code == Errc::not_found) co_return events_expired(run);
  if (!read) co_return api::problem_from(read.error(), request.request_id);
  co_return api::json_response(200, stages_json(run, reader));
}

}  // namespace

void add_stages_route(api::Router& router, store::Database& store, base::FairPool& reading) {
  StageRoutes const routes{store, reading, std::make_shared<ReportGate>(ReportGate::Limits{})};
  router.add(api::Method::get, "/api/v1/agent/runs/{thread_id}/stages", api::Access::user,
             [routes](api::Request request) { return show_stages(routes, std::move(request)); },
             {.answer_bytes = kStagesAnswer});
}

}  // namespace runnel::http

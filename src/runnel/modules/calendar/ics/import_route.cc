#include "runnel/modules/calendar/ics/import_route.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runnel/api/problem.h"
#include "runnel/core/json/write.h"
#include "runnel/core/text/locale_names.h"
#include "runnel/modules/calendar/actions.h"
#include "runnel/modules/calendar/ics/import.h"
#include "runnel/modules/storage.h"

namespace runnel::modules::calendar {

namespace asio = boost::asio;

namespace {

// So many events are written in one transaction.
constexpr std::size_t kWrittenAtOnce = 50;
// How often they are tried again because another change came between.
constexpr int kMostImportTries = 5;
constexpr std::size_t kImportAnswer = std::size_t{128} * 1024;

struct ImportRoute {
  Context context;
  base::FairPool* pool;
  FileRows rows;
  Repository repository;
};

// The events of a file, or why it has none.
using ReadFile = std::variant<std::shared_ptr<EventsOfFile>, MethodFailure>;

// Plain functions, because g++ 12 mishandles such captures inside coroutines (CONTRIBUTING.md).
std::function<Result<ReadFile>()> reading(std::string body, std::string zone) {
  auto const file =
      std::make_shared<std::pair<std::string, std::string> const>(std::move(body), std::move(zone));
  return [file]() -> Result<ReadFile> {
    auto read = read_calendar_file(file->first);
    if (auto* const failure = std::get_if<MethodFailure>(&read)) return ReadFile{std::move(*failure)};
    return ReadFile{std::make_shared<EventsOfFile>(std::get<CalendarFile>(std::move(read)), file->second)};
  };
}

std::function<Result<bool>()> reading_some(std::shared_ptr<EventsOfFile> events) {
  return [events = std::move(events)]() -> Result<bool> { return events->read_some(); };
}

// An import that is under way.
struct Import {
  UserId user;
  std::shared_ptr<EventsOfFile const> file;
  std::vector<ImportStep> done;  // One for each item so far.
  std::int64_t series = 0;       // How many events of the user repeat.

  [[nodiscard]] std::vector<FileItem> const& items() const { return file->items(); }
};

ImportStep refused_step(MethodFailure failure) {
  ImportStep step;
  step.failure = std::move(failure);
  return step;
}

bool makes_too_many_series(ImportStep const& step, std::int64_t series) {
  return step.more_series > 0 && series + step.more_series > kMostSeries;
}

// What becomes of the items from `first` on, up to as many as are written at once.
store::Async<std::vector<ImportStep>> plan_steps(ImportRoute route, std::shared_ptr<Import const> import,
                                                 std::size_t first) {
  std::vector<ImportStep> steps;
  auto series = import->series;
  auto const last = std::min(first + kWrittenAtOnce, import->items().size());
  for (auto i = first; i < last; ++i) {
    auto const* const imported = std::get_if<ImportedEvent>(&import->items()[i]);
    if (imported == nullptr) {
      steps.push_back(refused_step(std::get<MethodFailure>(import->items()[i])));
      continue;
    }
    auto const kept = co_await route.rows.find_uid(import->user, imported->uid);
    if (!kept) co_return kept.error();
    auto step = plan_import(import->user, *imported, *kept, route.context.clock.now_ms());
    if (makes_too_many_series(step, series)) {
      step = refused_step(MethodFailure{kTooManySeries, series_limit_text()});
    }
    series += step.more_series;
    steps.push_back(std::move(step));
  }
  co_return steps;
}

std::vector<store::SqlStatement> effects_of(std::vector<ImportStep>& steps) {
  std::vector<store::SqlStatement> out;
  for (auto& step : steps)
    std::move(step.effect.begin(), step.effect.end(), std::back_inserter(out));
  return out;
}

bool may_be_tried_again(Error const& error, int tries) {
  bool const other_came_first = error.code == Errc::conflict || error.code == Errc::already_exists;
  return other_came_first && tries < kMostImportTries;
}

void add_done(Import& import, std::vector<ImportStep> steps) {
  for (auto const& step : steps)
    import.series += step.more_series;
  std::move(steps.begin(), steps.end(), std::back_inserter(import.done));
}

store::Async<void> import_some(ImportRoute route, std::shared_ptr<Import> import) {
  for (int tries = 1;; ++tries) {
    auto counted = co_await route.repository.count_series(import->user);
    if (!counted) co_return counted.error();
    import->series = *counted;
    auto steps = co_await plan_steps(route, import, import->done.size());
    if (!steps) co_return steps.error();
    auto effects = effects_of(*steps);
    if (effects.empty()) {
      add_done(*import, std::move(*steps));
      co_return Result<void>{};
    }
    auto const written = co_await route.context.sql.write(std::move(effects));
    if (written) {
      add_done(*import, std::move(*steps));
      co_return Result<void>{};
    }
    if (!may_be_tried_again(written.error(), tries)) co_return written.error();
  }
}

// What is left of the file when the user has no storage left.
void refuse_rest(Import& import) {
  for (auto i = import.done.size(); i < import.items().size(); ++i) {
    auto const* const failure = std::get_if<MethodFailure>(&import.items()[i]);
    import.done.push_back(refused_step(
        failure != nullptr ? *failure
                           : MethodFailure{"STORAGE_QUOTA_EXCEEDED", "the user has no storage left"}));
  }
}

void append_step(std::string& out, ImportStep const& step, std::size_t index) {
  static constexpr char const* kNames[] = {"created", "updated", "unchanged", "failed"};
  JsonObject object{out};
  object.number("index", static_cast<std::int64_t>(index));
  if (!step.event_id.empty()) object.text("event_id", step.event_id);
  object.text("outcome", kNames[static_cast<std::size_t>(step.outcome)]);
  if (step.outcome == Outcome::failed) {
    JsonObject{object.key("error")}
        .text("code", step.failure.code)
        .text("message", step.failure.message)
        .close();
  }
  object.close();
}

api::Response told(Import const& import) {
  std::string body;
  JsonObject object{body};
  std::size_t index = 0;
  append_json_array(object.key("items"), import.done,
                    [&](std::string& out, ImportStep const& step) { append_step(out, step, index++); });
  auto const failed = std::count_if(import.done.begin(), import.done.end(),
                                    [](ImportStep const& step) { return step.outcome == Outcome::failed; });
  object.number("count", static_cast<std::int64_t>(import.done.size())).number("failed", failed).close();
  return api::json_response(200, std::move(body));
}

api::Response unreadable_file(MethodFailure const& failure) {
  return api::problem(400, failure.code, "The file cannot be imported: " + failure.message + ".");
}

api::Response no_room() {
  return api::problem(507, "STORAGE_QUOTA_EXCEEDED",
                      "You have no storage left. Delete something, such as threads or events.");
}

asio::awaitable<api::Reply> write_items(ImportRoute route, std::string request_id,
                                        std::shared_ptr<Import> import) {
  while (import->done.size() < import->items().size()) {
    auto const full =
        co_await is_storage_full(route.context.sql, import->user, route.context.storage_bytes_per_user);
    if (!full) co_return api::problem_from(full.error(), request_id);
    if (*full && import->done.empty()) co_return no_room();
    if (*full) {
      refuse_rest(*import);
      break;
    }
    auto const written = co_await import_some(route, import);
    if (!written) co_return api::problem_from(written.error(), request_id);
  }
  co_return told(*import);
}

asio::awaitable<api::Reply> import_file_route(ImportRoute route, api::Request request) {
  auto zone = request.query("timezone").value_or("UTC");
  if (!is_zone_name(zone)) {
    co_return api::problem(400, "INVALID_REQUEST",
                           "'timezone' must be a time zone in the IANA database, such as Europe/Berlin");
  }
  auto read = co_await route.pool->run<ReadFile>(request.user.text,
                                                 reading(std::move(request.body), std::move(zone)));
  if (!read) co_return api::problem_from(read.error(), request.request_id);
  if (auto const* const failure = std::get_if<MethodFailure>(&*read)) co_return unreadable_file(*failure);
  auto const file = std::get<std::shared_ptr<EventsOfFile>>(*read);
  for (bool more = true; more;) {
    auto const some = co_await route.pool->run<bool>(request.user.text, reading_some(file));
    if (!some) co_return api::problem_from(some.error(), request.request_id);
    more = *some;
  }
  auto const import = std::make_shared<Import>();
  import->user = request.user;
  import->file = file;
  auto reply = co_await write_items(std::move(route), request.request_id, import);
  co_return reply;
}

}  // namespace

void add_import_route(api::Router& router, Context const& context, base::FairPool& pool) {
  ImportRoute const route{context, &pool, FileRows{context.sql}, Repository{context.sql}};
  router.add(api::Method::post, "/api/v1/calendar/import", api::Access::user,
             [route](api::Request request) { return import_file_route(route, std::move(request)); },
             {.bodies = api::Bodies::messages, .answer_bytes = kImportAnswer});
}

}  // namespace runnel::modules::calendar

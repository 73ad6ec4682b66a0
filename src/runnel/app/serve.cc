#include "runnel/app/serve.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runnel/app/data_dir.h"
#include "runnel/app/flows.h"
#include "runnel/app/greeting.h"
#include "runnel/app/memories.h"
#include "runnel/app/models.h"
#include "runnel/app/modules.h"
#include "runnel/app/open_files.h"
#include "runnel/app/process_guard.h"
#include "runnel/app/routes.h"
#include "runnel/app/settings/listen_address.h"
#include "runnel/app/skills.h"
#include "runnel/app/tools/custom_modules.h"
#include "runnel/app/tools/tool_programs.h"
#include "runnel/app/tools/tool_server.h"
#include "runnel/app/tools/tools.h"
#include "runnel/base/blocking_pool.h"
#include "runnel/base/tokens/tool_credentials.h"
#include "runnel/core/profile.h"
#include "runnel/core/time/zone.h"
#include "runnel/http/auth/dev_secret.h"
#include "runnel/http/connection/server.h"
#include "runnel/http/cors.h"
#include "runnel/http/routes/server/static_files.h"
#include "runnel/modules/profile/repository.h"
#include "runnel/protocol/wires.h"
#include "runnel/runtime/lifecycle/service.h"
#include "runnel/store/sqlite/store.h"

namespace runnel::app {

namespace asio = boost::asio;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

// The subject of the report's line about tools.
constexpr char kToolsLine[] = "tools";

// How many of a run's newest facts are kept in memory for readers that connect late.
constexpr std::size_t kRecordsInMemory = 256;

// How many streams of one user may wait to be replayed. Further ones are told to try again later.
constexpr std::size_t kMostReplaying = 1000;

// Starting a program blocks its thread for about a millisecond.
constexpr std::size_t kStartingThreads = 2;

// How long /readyz reuses the result of a probe of the store, because each probe is a commit.
constexpr seconds kProbeKept{1};

int refuse(Error const& error) {
  base::log_text(fmt::format("runnel: {}\n", error.detail));
  return 1;
}

runtime::ServiceOptions service_options(Settings const& settings, base::Metrics& metrics) {
  runtime::ServiceOptions options;
  options.node = NodeId{fmt::format("{}-{}", getpid(), mint_uuid().substr(28))};
  options.delta_flush = milliseconds{settings.delta_flush_ms};
  options.max_recoveries = settings.max_recoveries;
  options.runs_per_user = settings.runs_per_user;
  options.context_bytes = static_cast<std::size_t>(settings.context_bytes);
  options.message_bytes = static_cast<std::size_t>(settings.message_limit_bytes);
  options.storage_bytes_per_user = settings.storage_bytes_per_user;
  options.event_retention = seconds{settings.events_s};
  options.sweep_interval = seconds{settings.sweep_s};
  options.approval_time = seconds{settings.approval_timeout_s};
  options.budgets.run = settings.run_budget;
  options.budgets.thread = settings.thread_budget;
  options.budgets.user = settings.user_budget;
  options.budgets.day = settings.day_budget;
  options.metrics = runtime::RunMetrics{metrics};
  return options;
}

http::ServerOptions server_options(Settings const& settings, ListenAddress const& address,
                                   base::Metrics& metrics) {
  http::ServerOptions options;
  options.host = address.host;
  options.port = address.port;
  options.limits.keep_alive = seconds{settings.keep_alive_s};
  options.limits.write_timeout = seconds{settings.write_timeout_s};
  options.limits.subscriber_buffer_bytes = static_cast<std::size_t>(settings.subscriber_buffer_bytes);
  options.limits.json_depth = static_cast<std::size_t>(settings.json_depth);
  options.limits.body_bytes = static_cast<std::size_t>(settings.body_limit_bytes);
  options.limits.small_body_bytes = static_cast<std::size_t>(settings.small_body_limit_bytes);
  options.limits.json_values = static_cast<std::size_t>(settings.json_values);
  options.user_limits = {.requests_per_s = settings.requests_per_user_per_s,
                         .request_burst = settings.request_burst_per_user,
                         .streams = settings.streams_per_user,
                         .body_bytes = settings.body_bytes_per_user,
                         .all_body_bytes = settings.body_bytes_total,
                         .answer_bytes = settings.answer_bytes_per_user};
  options.allowed_origins = settings.allowed_origins;
  options.metrics = &metrics;
  options.limits.header_deadline = seconds{settings.header_timeout_s};
  options.limits.body_deadline = seconds{settings.body_timeout_s};
  options.limits.idle_timeout = seconds{settings.idle_timeout_s};
  options.limits.max_connections = connection_cap(settings.max_connections, raise_open_files_limit());
  options.limits.max_silent_connections = static_cast<std::size_t>(settings.max_silent_connections);
  return options;
}

// The main thread receives the signals in sigwait, so they are blocked before any other thread exists.
sigset_t block_stop_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGCHLD, SIG_DFL);  // If it stayed ignored, the kernel would reap programs by itself.
  return signals;
}

// A second signal ends the process at once; the next start recovers the unfinished runs.
void wait_for_signal(sigset_t const& signals, std::int64_t drain_timeout_s) {
  int signal = 0;
  sigwait(&signals, &signal);
  base::log(base::LogLevel::info, "stopping: active runs may end first; another signal stops at once",
            {{"signal", static_cast<std::int64_t>(signal)}, {"drain_timeout_s", drain_timeout_s}});
  std::signal(SIGINT, SIG_DFL);  // A shell starts background jobs with SIGINT ignored.
  std::signal(SIGTERM, SIG_DFL);
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

// Called only once the port is open, because a start that fails must not interrupt any run.
void recover(runtime::Service& service, std::vector<store::RunRow> runs) {
  if (!runs.empty()) {
    base::log(base::LogLevel::info, "resuming the runs that the last process left unfinished",
              {{"runs", static_cast<std::int64_t>(runs.size())}});
  }
  service.recover(std::move(runs));
}

struct Opened {
  DataDir data_dir;
  std::string dev_secret;  // Empty if the server is not in dev mode.
  std::unique_ptr<store::Database> store;
  std::shared_ptr<http::Authenticator const> authenticator;
};

Result<Opened> open_all(Settings const& settings, base::Clock const& clock, base::Metrics& metrics) {
  auto data_dir = DataDir::lock(settings.data_dir);
  if (!data_dir) return data_dir.error();
  auto authenticator = open_authenticator(settings, clock);
  if (!authenticator) return authenticator.error();
  auto dev_secret =
      is_dev_mode(settings) ? http::open_dev_secret(settings.data_dir) : Result<std::string>{std::string{}};
  if (!dev_secret) return dev_secret.error();
  auto store = open_store(settings, store::StoreMetrics{metrics});
  if (!store) return store.error();
  return Opened{std::move(*data_dir), std::move(*dev_secret), std::move(*store),
                std::make_shared<http::Authenticator const>(std::move(*authenticator))};
}

// Checks the keys in auth.keys. Dev mode has a key of its own, which a check must not create.
Result<void> check_keys(Settings const& settings) {
  if (is_dev_mode(settings) && settings.auth_algorithm != "HS256") {
    return Error{Errc::invalid, fmt::format("auth.algorithm is {}, but auth.keys names no public key",
                                            settings.auth_algorithm)};
  }
  if (is_dev_mode(settings)) return {};
  auto const keys = base::KeyRing::load(*base::parse_algorithm(settings.auth_algorithm), settings.auth_keys);
  if (!keys) return keys.error();
  return {};
}

Result<void> check_address(Settings const& settings) {
  auto const address = parse_listen(settings.listen);
  if (!address) return address.error();
  if (!is_dev_mode(settings) || is_loopback(*address)) return {};
  return Error{
      Errc::invalid,
      fmt::format(
          "cannot listen on {}: no auth key is configured, so the server is in dev mode, which is for "
          "this machine only. Listen on 127.0.0.1, [::1] or localhost; or, to let other machines in, name "
          "a key in auth.keys (docs/deploy.md shows how)",
          address->host)};
}

Result<void> check_static_dir(Settings const& settings) {
  if (settings.static_dir.empty()) return {};
  auto const files = http::StaticFiles::open(settings.static_dir);
  if (!files) return files.error();
  return {};
}

Result<void> check_stream(Settings const& settings) {
  if (settings.stream == "embedded") return {};
  return Error{Errc::invalid,
               fmt::format("unknown stream '{}'; this version has only 'embedded'", settings.stream)};
}

Result<void> check_store(Settings const& settings) {
  if (settings.store == "sqlite") return {};
  return Error{Errc::invalid,
               fmt::format("unknown store '{}'; this version has only 'sqlite'", settings.store)};
}

Result<void> check_audience(Settings const& settings) {
  if (settings.auth_audience != base::kToolAudience) return {};
  return Error{Errc::invalid,
               fmt::format("auth.audience is '{}', which is reserved for the credentials of tool "
                           "calls; choose another audience for the tokens of users",
                           base::kToolAudience)};
}

}  // namespace

Result<StartupReport> check(Settings const& settings) {
  std::vector<std::string> mistakes;
  for (auto const& checked : {check_address(settings), check_keys(settings),
                              http::Cors::check(settings.allowed_origins), check_static_dir(settings),
                              check_store(settings), check_stream(settings), check_audience(settings)}) {
    if (!checked) mistakes.push_back(checked.error().detail);
  }
  auto const now_ms = base::SystemClock{}.now_ms();
  auto const models = check_models(settings, environ, now_ms);
  mistakes.insert(mistakes.end(), models.problems.begin(), models.problems.end());
  auto const loaded = load_custom(settings);
  if (!loaded) mistakes.push_back(loaded.error().detail);
  auto const custom = loaded ? *loaded : std::make_shared<tools::CustomModules const>();
  auto const skills = load_skills(settings);
  mistakes.insert(mistakes.end(), skills.problems.begin(), skills.problems.end());
  auto const flows = check_flows(settings, models.registry.get(), *custom, skills.skills.get());
  mistakes.insert(mistakes.end(), flows.problems.begin(), flows.problems.end());
  if (flows.catalog) {
    auto const allowed = check_allowed_flows(*custom, *flows.catalog);
    mistakes.insert(mistakes.end(), allowed.begin(), allowed.end());
  }
  auto const approvals = check_tool_approvals(settings, *custom);
  if (!approvals && loaded) mistakes.push_back(approvals.error().detail);
  auto const sandbox = check_tool_programs(settings, *custom);
  if (!sandbox) mistakes.push_back(sandbox.error().detail);
  if (!mistakes.empty()) return Error{Errc::invalid, fmt::format("{}", fmt::join(mistakes, "\n"))};
  auto report =
      make_startup_report({settings, environ, *models.registry, *models.prices, *flows.catalog, now_ms});
  report.lines.emplace_back("skills", skills_in_words(settings, *skills.skills));
  report.lines.emplace_back(kToolsLine, *sandbox + approvals_in_words(settings, *custom));
  for (auto const& name : unknown_variables(environ))
    report.warnings.push_back(about_unknown_variable(name));
  return report;
}

Result<std::unique_ptr<store::Database>> open_store(Settings const& settings, store::StoreMetrics metrics) {
  auto const known = check_store(settings);
  if (!known) return known.error();
  store::SqliteOptions options;
  options.path = settings.data_dir + "/runnel.db";
  options.metrics = metrics;
  options.module_migrations = Modules{settings}.migrations();
  return store::open_sqlite(std::move(options));
}

bool is_dev_mode(Settings const& settings) {
  return settings.auth_keys.empty();
}

Result<http::Authenticator> open_authenticator(Settings const& settings, base::Clock const& clock) {
  auto keys = is_dev_mode(settings)
                  ? base::open_own_key(settings.data_dir)
                  : base::KeyRing::load(*base::parse_algorithm(settings.auth_algorithm), settings.auth_keys);
  if (!keys) return keys.error();
  return http::Authenticator{std::move(*keys), {settings.auth_issuer, settings.auth_audience}, clock};
}

namespace {

// In dev mode, adds something to show at the first start with this data folder. A file in it says that this
// was done, so that what a user deletes does not come back.
Result<void> add_demo_data(Settings const& settings, Modules& modules, base::Cores& cores,
                           base::Clock const& clock) {
  auto const done = settings.data_dir + "/demo-data-added";
  if (!is_dev_mode(settings) || !settings.demo_data || std::filesystem::exists(done)) return {};
  modules::DemoUser const demo{UserId{"demo"}, Preferences{}.timezone, clock.now_ms()};
  auto const added = asio::co_spawn(cores.at(0), modules.add_demo_data(demo), asio::use_future).get();
  if (!added) return added.error();
  std::ofstream const marker{done};
  if (!marker) return Error{Errc::unavailable, "cannot write " + done};
  return {};
}

// Everything from the first log line to the last.
Result<void> run(Settings const& settings, StartupReport const& report, sigset_t const& signals) {
  for (auto const& warning : report.warnings)
    base::log(base::LogLevel::warn, "configuration", {{"warning", warning}});
  for (auto const& [subject, text] : report.lines) {
    if (subject == kToolsLine) base::log(base::LogLevel::info, "tools run in a sandbox", {{"level", text}});
  }
  base::SystemClock const clock;
  base::Metrics metrics;
  metrics.add_process();
  auto opened = open_all(settings, clock, metrics);
  if (!opened) return opened.error();

  auto const wanted = static_cast<std::size_t>(settings.cores);
  base::Cores cores{wanted != 0 ? wanted : std::thread::hardware_concurrency()};
  stream::Hub hub{cores,
                  {&protocol::encode, protocol::all_wires().size(), &protocol::is_durable_only},
                  kRecordsInMemory,
                  stream::StreamMetrics{metrics}};
  auto const models = make_models(settings, environ, cores, clock.now_ms());
  if (!models) return models.error();
  // Reads the list of time zones, and the zone of users without a profile. Otherwise the first run would read
  // them on a core.
  Zone::find(Preferences{}.timezone);
  close_all_on_exec();
  auto const custom = load_custom(settings);
  if (!custom) return custom.error();
  auto const skills = load_skills(settings);
  if (!skills.problems.empty())
    return Error{Errc::invalid, fmt::format("{}", fmt::join(skills.problems, "\n"))};
  auto const flows = load_flows(settings, *models->registry, **custom, *skills.skills);
  if (!flows) return flows.error();
  auto store = std::move(opened->store);
  Modules modules{settings, skills.skills};
  modules.make({*store, clock, cores, settings.storage_bytes_per_user});
  ToolServer tool_server{{cores, *store, clock, modules.methods(), settings.storage_bytes_per_user,
                          static_cast<std::size_t>(settings.tool_output_bytes)}};
  auto const starting = std::make_shared<base::BlockingPool>(kStartingThreads);
  auto const tools =
      make_toolbox(settings, {tool_server, clock, starting, *custom}, {modules.methods(), modules.cards()});
  NotedMemories memories{*store};
  runtime::Service service{{cores, clock, *store, hub, *flows, *models->registry, models->prices, tools,
                            modules::profile::kFrozenProfile, store.get(), &memories},
                           service_options(settings, metrics)};
  cores.start();

  auto unfinished = asio::co_spawn(cores.at(0), service.unfinished(), asio::use_future).get();
  if (!unfinished) return unfinished.error();
  auto const shown = add_demo_data(settings, modules, cores, clock);
  if (!shown) return shown.error();

  SharedProbe probe{[&store] { return store->probe(); }, clock, kProbeKept};
  base::BlockingPool scraping{1};
  base::FairPool replaying{std::clamp<std::size_t>(cores.size() / 2, 1, 4), kMostReplaying};
  auto const live_tasks = std::make_shared<http::LiveTasks>();
  auto router = make_router(
      settings, {cores, clock, *store, hub, service, opened->authenticator, opened->dev_secret, modules,
                 **custom, *flows, *models->registry, probe, metrics, scraping, replaying, live_tasks});
  if (!router) return router.error();
  auto address = parse_listen(settings.listen).value();
  http::Server server{cores, std::move(*router), opened->authenticator,
                      server_options(settings, address, metrics), modules.stream_tickets()};
  auto const port = server.listen();
  if (port) {
    address.port = *port;
    tool_server.start();
    recover(service, std::move(*unfinished));
    service.start_sweeping();
    modules.start();
    greet({address, settings.data_dir, to_text(report), opened->dev_secret});
    wait_for_signal(signals, settings.drain_timeout_s);
    service.shut_down(seconds{settings.drain_timeout_s});
  }
  live_tasks->stop();
  server.stop();
  service.shut_down(milliseconds{0});
  tool_server.stop();
  modules.stop();
  store.reset();
  cores.stop();
  if (port) return {};
  if (port.error().code != Errc::conflict) return port.error();
  return Error{Errc::conflict, fmt::format("{}; try --listen {} for any free port", port.error().detail,
                                           to_text(ListenAddress{address.host, 0}))};
}

}  // namespace

int serve(Settings const& settings) {
  auto const checked = check(settings);
  if (!checked) return refuse(checked.error());
  auto const signals = block_stop_signals();
  base::start_logging(settings.log);
  auto const ended = run(settings, *checked, signals);
  int const code = ended ? 0 : refuse(ended.error());
  base::stop_logging();
  return code;
}

}  // namespace runnel::app

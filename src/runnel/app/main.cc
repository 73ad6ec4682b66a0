#include <CLI/CLI.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <fmt/format.h>
#include <malloc.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "runnel/app/data_dir.h"
#include "runnel/app/process_guard.h"
#include "runnel/app/serve.h"
#include "runnel/app/settings/settings.h"
#include "runnel/base/nearest_name.h"

namespace {

using runnel::Result;
using runnel::app::Settings;

constexpr int kUsage = 2;
constexpr std::int64_t kLongestTtl = std::int64_t{3650} * 86400;

// The values of the command line. Empty if an option was not given.
struct Arguments {
  std::string config;
  std::string listen;
  std::string data_dir;
  std::string store;
  std::string stream;
  std::string user;
  std::int64_t ttl_s = std::int64_t{24} * 3600;
};

Result<Settings> settings_from(Arguments const& arguments) {
  std::vector<runnel::app::Override> flags;
  for (auto const& [key, value] :
       {std::pair{"listen", &arguments.listen}, std::pair{"data_dir", &arguments.data_dir},
        std::pair{"store", &arguments.store}, std::pair{"stream", &arguments.stream}}) {
    if (!value->empty()) flags.push_back({key, *value});
  }
  return runnel::app::load_settings(arguments.config, environ, std::move(flags));
}

int refuse(runnel::Error const& error) {
  fmt::print(stderr, "runnel: {}\n", error.detail);
  return 1;
}

int print_check(Settings const& settings) {
  auto const checked = runnel::app::check(settings);
  if (!checked) return refuse(checked.error());
  fmt::print("the configuration is valid\n\n{}", to_text(*checked));
  for (auto const& warning : checked->warnings)
    fmt::print(stderr, "runnel: warning: {}\n", warning);
  return 0;
}

int migrate(Settings const& settings) {
  auto const ensured = runnel::app::DataDir::ensure(settings.data_dir);
  if (!ensured) return refuse(ensured.error());
  auto const store = runnel::app::open_store(settings);
  if (!store) return refuse(store.error());
  fmt::print("the database in {} is up to date\n", settings.data_dir);
  return 0;
}

int print_token(Settings const& settings, Arguments const& arguments) {
  if (!runnel::is_usable_id(arguments.user)) {
    return refuse({runnel::Errc::invalid, "--user must be 1 to 128 visible ASCII characters without spaces"});
  }
  bool const is_new = !std::filesystem::exists(settings.data_dir);
  auto const ensured = runnel::app::DataDir::ensure(settings.data_dir);
  if (!ensured) return refuse(ensured.error());
  if (is_new && runnel::app::is_dev_mode(settings)) {
    fmt::print(
        stderr,
        "runnel: {} is a new data folder; this token is valid only for a server that uses it (--data-dir)\n",
        settings.data_dir);
  }
  runnel::base::SystemClock const clock;
  auto const authenticator = runnel::app::open_authenticator(settings, clock);
  if (!authenticator) return refuse(authenticator.error());
  if (!authenticator->can_issue()) {
    return refuse(
        {runnel::Errc::invalid,
         fmt::format("auth.algorithm is {}: only the issuer that has the private key can make tokens",
                     settings.auth_algorithm)});
  }
  auto const store = runnel::app::open_store(settings);
  if (!store) return refuse(store.error());

  runnel::UserId const user{arguments.user};
  boost::asio::io_context context;
  auto made =
      boost::asio::co_spawn(context, (*store)->ensure_user(user, clock.now_ms()), boost::asio::use_future);
  context.run();
  auto const result = made.get();
  if (!result) return refuse(result.error());
  fmt::print("{}\n", authenticator->issue_token(user, std::chrono::seconds{arguments.ttl_s}));
  return 0;
}

void add_common(CLI::App& command, Arguments& arguments) {
  command
      .add_option("--config", arguments.config,
                  "YAML file with settings; conf/runnel.yaml documents all of them (default: no file)")
      ->check(CLI::ExistingFile)
      ->option_text("FILE");
  command
      .add_option(
          "--data-dir", arguments.data_dir,
          "folder for the database and the keys, created if it does not exist (default: ./runnel-data)")
      ->option_text("DIR");
  command
      .add_option(
          "--store", arguments.store,
          "where threads, runs and usage are kept; sqlite, a file in the data folder, is the only one in "
          "this version (default: sqlite)")
      ->option_text("STORE");
  command.footer("An option overrides its RUNNEL_… environment variable, which overrides the file.");
}

void add_serve_options(CLI::App& command, Arguments& arguments) {
  add_common(command, arguments);
  command
      .add_option("--listen", arguments.listen,
                  "address to listen on; port 0 means any free port (default: 127.0.0.1:8080)")
      ->option_text("HOST:PORT");
  command
      .add_option(
          "--stream", arguments.stream,
          "how events reach their readers; embedded, inside the server, is the only one in this version "
          "(default: embedded)")
      ->option_text("STREAM");
}

// The program or the command whose help is asked for: `runnel help`, `runnel help serve`. Null if none is.
CLI::App const* help_of(CLI::App const& app, int argc, char** argv) {
  if (argc > 3 || std::string_view{argv[1]} != "help") return nullptr;
  if (argc == 2) return &app;
  for (auto const* command : app.get_subcommands({})) {
    if (command->get_name() == argv[2]) return command;
  }
  return nullptr;
}

// Names the unknown command, because CLI11 only says that a command is needed.
bool is_unknown_command(CLI::App const& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return false;
  std::string const asked = argc > 2 && std::string_view{argv[1]} == "help" ? argv[2] : argv[1];
  std::vector<std::string> names;
  for (auto const* command : app.get_subcommands({})) {
    if (command->get_name() == asked) return false;
    names.push_back(command->get_name());
  }
  names.emplace_back("help");
  fmt::print(stderr, "runnel: there is no command '{}'; the commands are {}{}\n", asked,
             fmt::join(names, ", "), runnel::base::did_you_mean(asked, names));
  return true;
}

// The first option that the command does not have. Empty if something else is wrong.
std::string unknown_option(CLI::App const& app, int argc, char** argv, std::vector<std::string>& known) {
  auto const commands = app.get_subcommands();
  auto const& command = commands.empty() ? app : *commands.front();
  for (auto const* option : command.get_options()) {
    for (auto const& name : option->get_lnames())
      known.push_back("--" + name);
  }
  for (int i = 1; i < argc; ++i) {
    std::string_view const argument = argv[i];
    if (argument == "--") break;
    auto const name = argument.substr(0, argument.find('='));
    if (!name.starts_with("--")) continue;
    if (std::find(known.begin(), known.end(), name) == known.end()) return std::string{name};
  }
  return {};
}

// Whether the unknown option explains the error. A misspelled option is also missing under its right name.
// But if the command itself is missing, an option of some command is not unknown.
bool may_come_from(std::string const& unknown, std::string const& meant, CLI::App const& app,
                   CLI::ParseError const& error) {
  auto const code = static_cast<CLI::ExitCodes>(error.get_exit_code());
  if (unknown.empty()) return false;
  if (code == CLI::ExitCodes::RequiredError) return !app.get_subcommands().empty() || !meant.empty();
  return code == CLI::ExitCodes::ExtrasError;
}

// What is wrong with the arguments. CLI11 names neither the option that was most likely meant nor the options
// that exist.
std::string about_arguments(CLI::App const& app, CLI::ParseError const& error, int argc, char** argv) {
  std::string const told = error.what();
  if (told.starts_with("--ttl"))
    return "--ttl must be a number of seconds from 1, or a number with s, m, h or d such as 15m, 12h, 30d, "
           "up to "
           "3650d";
  std::vector<std::string> known;
  auto const unknown = unknown_option(app, argc, argv, known);
  auto const meant = runnel::base::did_you_mean(unknown, known);
  if (may_come_from(unknown, meant, app, error)) {
    return fmt::format("unknown option {}{}", unknown,
                       meant.empty() ? fmt::format("; the options are {}", fmt::join(known, ", ")) : meant);
  }
  auto const commands = app.get_subcommands();
  return fmt::format("{}; see runnel {}--help", told,
                     commands.empty() ? "" : commands.front()->get_name() + " ");
}

int refuse_arguments(CLI::App const& app, CLI::ParseError const& error, int argc, char** argv) {
  if (error.get_exit_code() == 0) return app.exit(error);  // The argument is --help or --version.
  fmt::print(stderr, "runnel: {}\n", about_arguments(app, error, argc, argv));
  return kUsage;
}

}  // namespace

int main(int argc, char** argv) {
  runnel::app::guard_process();
  CLI::App app{"Runnel runs LLM agents as durable runs and streams them to any client.", "runnel"};
  app.require_subcommand(1);
  Arguments arguments;

  auto* serve = app.add_subcommand("serve", "Run the server");
  add_serve_options(*serve, arguments);
  auto* check_command = app.add_subcommand("check", "Check the configuration without starting");
  add_serve_options(*check_command, arguments);
  auto* migrate_command = app.add_subcommand("migrate", "Bring the database up to date without starting");
  add_common(*migrate_command, arguments);
  auto* token =
      app.add_subcommand("token", "Print a bearer token for a user, and create the user if it is new");
  add_common(*token, arguments);
  token
      ->add_option("--user", arguments.user,
                   "name of the user of the token: 1 to 128 visible ASCII characters without spaces")
      ->required()
      ->option_text("NAME (required)");
  token
      ->add_option(
          "--ttl", arguments.ttl_s,
          "how long the token is valid: seconds, or a number with s, m, h or d such as 15m, 12h, 30d, up to "
          "3650d (default: 24h)")
      ->option_text("TIME")
      ->transform(CLI::AsNumberWithUnit(
          std::map<std::string, std::int64_t>{{"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}},
          CLI::AsNumberWithUnit::CASE_SENSITIVE, "SECONDS"))
      ->check(CLI::Range(std::int64_t{1}, kLongestTtl));
  auto* version = app.add_subcommand("version", "Print the version");

  app.set_version_flag("--version", fmt::format("runnel {}", RUNNEL_VERSION));
  if (argc < 2) {
    fmt::print(stderr, "{}", app.help());
    return kUsage;
  }
  if (auto const* const asked = help_of(app, argc, argv)) {
    fmt::print("{}", asked->help(asked == &app ? "" : app.get_name()));
    return 0;
  }
  if (is_unknown_command(app, argc, argv)) return kUsage;

  // Runs begin and end all the time, so freed memory is not given back to the system at once.
  mallopt(M_TRIM_THRESHOLD, 4 << 20);
  mallopt(M_TOP_PAD, 256 << 10);
  umask(077);  // Nobody else may read the files that this process writes.
  try {
    app.parse(argc, argv);
  } catch (CLI::ParseError const& error) {
    return refuse_arguments(app, error, argc, argv);
  }
  if (version->parsed()) {
    fmt::print("runnel {}\n", RUNNEL_VERSION);
    return 0;
  }
  auto const settings = settings_from(arguments);
  if (!settings) return refuse(settings.error());
  if (serve->parsed()) return runnel::app::serve(*settings);
  if (check_command->parsed()) return print_check(*settings);
  for (auto const& name : runnel::app::unknown_variables(environ))
    fmt::print(stderr, "runnel: warning: {}\n", runnel::app::about_unknown_variable(name));
  if (migrate_command->parsed()) return migrate(*settings);
  return print_token(*settings, arguments);
}

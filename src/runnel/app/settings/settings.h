#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runnel/app/settings/provider_settings.h"
#include "runnel/base/log/log.h"
#include "runnel/core/error.h"
#include "runnel/core/money/money.h"

namespace runnel::app {

// Everything that can be configured, with its default. conf/runnel.yaml documents each key.
struct Settings {
  std::string listen = "127.0.0.1:8080";
  std::string data_dir = "./runnel-data";
  std::string store = "sqlite";
  std::string stream = "embedded";
  std::int64_t cores = 0;  // 0 for as many as the machine has.
  base::LogOptions log;

  std::string auth_algorithm = "HS256";
  std::vector<std::string> auth_keys;  // Each one is FILE or KID=FILE. Empty for dev mode.
  std::string auth_issuer = "runnel";
  std::string auth_audience = "runnel";

  std::int64_t keep_alive_s = 15;
  std::int64_t subscriber_buffer_bytes = std::int64_t{256} * 1024;
  std::int64_t write_timeout_s = 20;
  std::int64_t body_limit_bytes = std::int64_t{4} * 1024 * 1024;
  std::int64_t small_body_limit_bytes = std::int64_t{64} * 1024;
  std::int64_t message_limit_bytes = std::int64_t{256} * 1024;
  std::int64_t json_depth = 64;
  std::int64_t json_values = 20'000;
  std::int64_t history_page_bytes = std::int64_t{1} << 20;
  std::int64_t header_timeout_s = 10;
  std::int64_t body_timeout_s = 30;
  std::int64_t idle_timeout_s = 60;
  std::int64_t max_connections = 0;  // 0 for as many as the limit on open files allows.
  std::int64_t max_silent_connections = 2048;
  std::int64_t requests_per_user_per_s = 50;
  std::int64_t request_burst_per_user = 200;
  std::int64_t streams_per_user = 100;
  std::int64_t body_bytes_per_user = std::int64_t{16} * 1024 * 1024;
  std::int64_t body_bytes_total = std::int64_t{64} * 1024 * 1024;
  std::int64_t answer_bytes_per_user = std::int64_t{16} * 1024 * 1024;
  std::vector<std::string> allowed_origins;
  std::string static_dir;  // Empty for the built-in page.
  std::string metrics = "open";

  std::int64_t word_delay_ms = 30;
  std::int64_t words = 0;
  bool test_model = false;
  bool test_tool = false;
  std::int64_t tool_timeout_s = 30;
  std::int64_t tool_output_bytes = std::int64_t{256} * 1024;
  std::int64_t tools_at_once_per_user = 4;  // How many programs of tool calls run at the same time.
  std::int64_t tools_at_once = 64;
  std::string tool_sandbox = "available";
  std::vector<std::string> tool_approvals;  // The methods that somebody must approve, as module.method.
  std::int64_t approval_timeout_s = 86'400;
  std::string tool_user;  // UID:GID. Empty for nobody if the server runs as root, and else for its own user.
  std::string custom_modules_dir;      // A folder. Empty if there are no custom modules.
  std::string custom_module_user;      // As tool_user, but for the programs of custom modules.
  std::string default_model;           // Empty for the first provider's first model.
  std::vector<std::string> fallbacks;  // Models that are tried in this order if one fails.
  std::string prices;                  // A file. Empty for the built-in list.
  std::string litellm_prices;          // A file in LiteLLM's format. Empty if there is none.
  std::vector<ProviderSettings> providers;

  std::string flows_dir;  // A folder. Empty for the built-in flows.
  std::string default_flow = "router_worker";
  std::string skills_dir;  // A folder. Empty for the built-in skills.

  std::optional<Money> run_budget;  // In CNY. Empty for no limit; this also holds for the other budgets.
  std::optional<Money> thread_budget;
  std::optional<Money> user_budget;
  std::optional<Money> day_budget;

  std::int64_t drain_timeout_s = 10;
  std::int64_t max_recoveries = 3;
  std::int64_t delta_flush_ms = 100;
  std::int64_t runs_per_user = 32;
  std::int64_t context_bytes = std::int64_t{1} << 20;
  std::int64_t storage_bytes_per_user = std::int64_t{1} << 30;

  bool demo_data = true;         // Whether a new server in dev mode gets something to show.
  bool upgrade_profiles = true;  // Whether a profile is upgraded when it is written.

  std::int64_t events_s = std::int64_t{7} * 24 * 3600;
  std::int64_t sweep_s = 60;
};

// The name of a setting as in the file, with dots between levels, and a text that replaces its value.
struct Override {
  std::string key;
  std::string value;
};

// Applies the defaults, then the file, then the RUNNEL_… variables of `environment`, then `flags`. `file` is
// empty if there is none. Fails with `invalid`; the detail is for the operator. It has one line per mistake
// in the file, with the file and line, what is wrong, and what is allowed.
Result<Settings> load_settings(std::string const& file, char const* const* environment,
                               std::vector<Override> flags);

// RUNNEL_… variables that are not settings; most likely their names are mistyped.
std::vector<std::string> unknown_variables(char const* const* environment);

// Says that the variable is not a setting, and which one was most likely meant.
std::string about_unknown_variable(std::string const& name);

// The names of all settings, for tests that compare them with the documentation.
std::vector<std::string> setting_keys();

// "http.keep_alive_s" -> "RUNNEL_HTTP_KEEP_ALIVE_S".
std::string environment_name(std::string_view key);

}  // namespace runnel::app

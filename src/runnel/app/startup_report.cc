#include "runnel/app/startup_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include "runnel/app/models.h"
#include "runnel/app/serve.h"
#include "runnel/model/builtin/offline_contracts.h"

namespace runnel::app {
namespace {

constexpr char kOffline[] = "offline";
constexpr std::size_t kColumn = 10;

std::string mode_of(Settings const& settings) {
  if (is_dev_mode(settings)) return "dev mode: this machine only, user demo, because auth.keys is empty";
  return fmt::format("tokens are signed with {}, checked with {} {}, from issuer {}", settings.auth_algorithm,
                     settings.auth_keys.size(), settings.auth_keys.size() == 1 ? "key" : "keys",
                     settings.auth_issuer);
}

std::string data_of(Settings const& settings) {
  std::error_code error;
  auto const path = std::filesystem::absolute(settings.data_dir, error).lexically_normal();
  return fmt::format("{} ({})", error ? settings.data_dir : path.string(), settings.store);
}

// A rate is in 1e-12 CNY per token, so a million tokens cost that many 1e-6 CNY.
std::string per_million(std::int64_t rate) {
  return to_decimal(Money{rate * 1'000'000});
}

std::string list_of(ReportParts const& parts, model::Price const& price) {
  if (price.model->list == PriceList::litellm_catalog) return parts.settings.litellm_prices;
  return parts.settings.prices.empty() ? "the built-in price list" : parts.settings.prices;
}

// What a model costs, and where the price comes from.
std::string price_of(ReportParts const& parts, ProviderSettings const* provider, std::string const& model) {
  auto const shared = provider == nullptr ? std::string{} : shared_price(*provider);
  auto const price = parts.prices.find(shared.empty() ? model : shared, parts.now_ms, 0);
  if (!price) return "the price depends on the model name that a run gives";
  if (provider == nullptr) return "free, built in";
  if (price->entry->free) {
    return !shared.empty() && !provider->free ? "free, because it is on this machine"
           : provider->free                   ? "free, according to its provider's settings"
                                              : "free, according to " + list_of(parts, *price);
  }
  auto const& rates = price->tier->rates;
  return fmt::format("{} in, {} out CNY per million tokens, according to {}", per_million(rates.input),
                     per_million(rates.output),
                     shared.empty() ? list_of(parts, *price) : std::string{"RUNNEL_MODEL_PRICE"});
}

void add_model(StartupReport& report, ReportParts const& parts, ProviderSettings const* provider,
               std::string const& model) {
  auto const& fallbacks = parts.settings.fallbacks;
  std::string name = model;
  if (model == parts.models.default_name()) name += " (default)";
  if (std::find(fallbacks.begin(), fallbacks.end(), model) != fallbacks.end()) name += " (fallback)";
  if (provider != nullptr) name += fmt::format(" at {}", provider->base_url);
  report.lines.emplace_back("model", fmt::format("{}: {}", name, price_of(parts, provider, model)));
}

void add_models(StartupReport& report, ReportParts const& parts) {
  for (auto const& provider : parts.settings.providers) {
    for (auto const& model : provider.models)
      add_model(report, parts, &provider, model);
  }
  for (auto const& model : parts.models.names()) {
    bool const is_told = std::any_of(parts.settings.providers.begin(), parts.settings.providers.end(),
                                     [&](ProviderSettings const& provider) {
                                       auto const& names = provider.models;
                                       return std::find(names.begin(), names.end(), model) != names.end();
                                     });
    if (!is_told) add_model(report, parts, nullptr, model);
  }
}

std::string flows_of(ReportParts const& parts) {
  auto names = parts.flows.names();
  for (auto& name : names) {
    if (name == parts.flows.default_name()) name += " (default)";
  }
  auto const& folder = parts.settings.flows_dir;
  return fmt::format("{}; {}", fmt::join(names, ", "), folder.empty() ? "built in" : "from " + folder);
}

std::string budgets_of(Settings const& settings) {
  std::vector<std::string> told;
  for (auto const& [name, budget] :
       {std::pair{"per run", &settings.run_budget}, std::pair{"per thread", &settings.thread_budget},
        std::pair{"per user", &settings.user_budget}, std::pair{"per user and day", &settings.day_budget}}) {
    if (*budget) told.push_back(fmt::format("{} {}", name, to_decimal(**budget)));
  }
  return told.empty() ? "none" : fmt::format("{} CNY", fmt::join(told, ", "));
}

// In the largest unit that gives a whole number, such as "256 KiB".
std::string in_bytes(std::int64_t bytes) {
  static constexpr std::array<std::string_view, 5> kUnits{"bytes", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (; bytes != 0 && bytes % 1024 == 0 && unit + 1 < kUnits.size(); ++unit)
    bytes /= 1024;
  return fmt::format("{} {}", bytes, bytes == 1 && unit == 0 ? "byte" : kUnits[unit]);
}

std::string user_limits_of(Settings const& settings) {
  auto const runs = settings.runs_per_user == 0 ? "any number of" : std::to_string(settings.runs_per_user);
  auto const stored = settings.storage_bytes_per_user == 0 ? std::string{"any number of bytes"}
                                                           : in_bytes(settings.storage_bytes_per_user);
  return fmt::format(
      "per user: {} requests per second (bursts of {}), {} streams, {} runs, {} of bodies and {} of answers "
      "in "
      "flight, {} stored",
      settings.requests_per_user_per_s, settings.request_burst_per_user, settings.streams_per_user, runs,
      in_bytes(settings.body_bytes_per_user), in_bytes(settings.answer_bytes_per_user), stored);
}

std::string request_limits_of(Settings const& settings) {
  return fmt::format(
      "per request: a body of {} ({} if it holds no message), a message of {}, {} JSON values, {} levels "
      "deep",
      in_bytes(settings.body_limit_bytes), in_bytes(settings.small_body_limit_bytes),
      in_bytes(settings.message_limit_bytes), settings.json_values, settings.json_depth);
}

std::string server_limits_of(Settings const& settings) {
  return fmt::format("in total: {} of bodies in flight; a model call gets up to {} of its thread",
                     in_bytes(settings.body_bytes_total), in_bytes(settings.context_bytes));
}

// --- Warnings ---

std::string const& model_of(flow::Stage const& stage, model::Registry const& models) {
  if (!stage.model.empty()) return stage.model;
  return stage.settings.model.empty() ? models.default_name() : stage.settings.model;
}

// The offline model can only write objects of the shipped contracts.
void warn_of_offline(StartupReport& report, ReportParts const& parts) {
  for (auto const& name : parts.flows.names()) {
    for (auto const& stage : parts.flows.find(name)->stages) {
      bool const fits = stage.contract == nullptr || stage.prose_allowed ||
                        model_of(stage, parts.models) != kOffline ||
                        model::offline_object(stage.contract->name(), {}).has_value();
      if (fits) continue;
      report.warnings.push_back(
          fmt::format("flow {} cannot run on the offline model, which cannot write contract {}", name,
                      stage.contract->name()));
      break;
    }
  }
}

bool is_set(char const* const* environment, std::string_view name) {
  for (auto const* const* entry = environment; *entry != nullptr; ++entry) {
    std::string_view const text = *entry;
    if (text.size() > name.size() + 1 && text.starts_with(name) && text[name.size()] == '=') return true;
  }
  return false;
}

bool has_key(ProviderSettings const& provider, char const* const* environment) {
  return !provider.api_key.empty() || !provider.api_key_file.empty() ||
         (!provider.api_key_env.empty() && is_set(environment, provider.api_key_env));
}

// Whether a provider uses the key in that variable, whether its settings name the variable or not.
bool is_used(ReportParts const& parts, VendorKey const& vendor) {
  auto const& providers = parts.settings.providers;
  return std::any_of(providers.begin(), providers.end(), [&](ProviderSettings const& provider) {
    return provider.api_key_env == vendor.variable;
  });
}

void warn_of_unused_keys(StartupReport& report, ReportParts const& parts) {
  for (auto const& vendor : vendor_keys()) {
    if (!is_set(parts.environment, vendor.variable) || is_used(parts, vendor)) continue;
    auto const line =
        vendor.has_models
            ? fmt::format("add to models.providers: - {{name: {}}}", vendor.profile)
            : fmt::format(
                  "set RUNNEL_MODEL_BASE_URL={} RUNNEL_MODEL=NAME RUNNEL_MODEL_PRICE=INPUT,OUTPUT (CNY per "
                  "million tokens)",
                  vendor.base_url);
    report.warnings.push_back(
        fmt::format("{} is set, but nothing uses it; to use it, {}", vendor.variable, line));
  }
}

void warn_of_plain_http(StartupReport& report, ReportParts const& parts) {
  for (auto const& provider : parts.settings.providers) {
    bool const exposed = provider.base_url.starts_with("http://") && !is_on_this_machine(provider) &&
                         has_key(provider, parts.environment);
    if (!exposed) continue;
    report.warnings.push_back(fmt::format(
        "provider '{}' is at {}: its key and all messages of users are sent there unencrypted; use https://",
        provider.name, provider.base_url));
  }
}

}  // namespace

StartupReport make_startup_report(ReportParts const& parts) {
  StartupReport report;
  report.lines.emplace_back("version", fmt::format("runnel {}", RUNNEL_VERSION));
  report.lines.emplace_back("mode", mode_of(parts.settings));
  report.lines.emplace_back("listen", parts.settings.listen);
  report.lines.emplace_back("data", data_of(parts.settings));
  add_models(report, parts);
  report.lines.emplace_back("flows", flows_of(parts));
  report.lines.emplace_back("budgets", budgets_of(parts.settings));
  for (auto* limits_of : {&user_limits_of, &request_limits_of, &server_limits_of})
    report.lines.emplace_back("limits", limits_of(parts.settings));
  warn_of_offline(report, parts);
  warn_of_unused_keys(report, parts);
  warn_of_plain_http(report, parts);
  return report;
}

std::string to_text(StartupReport const& report) {
  std::string text;
  std::string_view before;
  for (auto const& [subject, what] : report.lines) {
    text += fmt::format("{:<{}}{}\n", subject == before ? "" : subject, kColumn, what);
    before = subject;
  }
  return text;
}

}  // namespace runnel::app

#include "runnel/app/settings/setting_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace runnel::app::setting {
namespace {

constexpr std::int64_t kYear = 366LL * 24 * 3600;

std::string_view strip(std::string_view text) {
  auto const begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

// Puts `text` into the setting, or says what it should have been.
struct Assign {
  Settings& settings;
  std::string const& text;

  std::optional<std::string> operator()(WholeNumber const& kind) const {
    std::int64_t value = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < kind.lowest ||
        value > kind.highest) {
      return fmt::format("must be a whole number from {} to {}", kind.lowest, kind.highest);
    }
    settings.*kind.field = value;
    return std::nullopt;
  }
  std::optional<std::string> operator()(Text const& kind) const {
    if (text.empty() && !kind.may_be_empty) return "must not be empty";
    settings.*kind.field = text;
    return std::nullopt;
  }
  std::optional<std::string> operator()(Choice const& kind) const {
    if (std::find(kind.names.begin(), kind.names.end(), text) == kind.names.end()) {
      return fmt::format("must be one of {}", fmt::join(kind.names, ", "));
    }
    settings.*kind.field = text;
    return std::nullopt;
  }
  std::optional<std::string> operator()(Switch const& kind) const {
    if (text != "true" && text != "false") return "must be true or false";
    settings.*kind.field = text == "true";
    return std::nullopt;
  }
  std::optional<std::string> operator()(List const& kind) const {
    auto& out = settings.*kind.field;
    out.clear();
    for (std::string_view rest = text;;) {
      auto const comma = rest.find(',');
      auto const item = strip(rest.substr(0, comma));
      // Most likely someone forgot to fill in a value. Without keys the server would run in dev mode.
      if (item.empty())
        return "must not have empty items; for an empty list leave the setting out, or write [] in the file";
      out.emplace_back(item);
      if (comma == std::string_view::npos) return std::nullopt;
      rest.remove_prefix(comma + 1);
    }
  }
  std::optional<std::string> operator()(Amount const& kind) const {
    auto const amount = text.empty() ? std::optional{Money{}} : parse_money(text);
    if (!amount || amount->pico < 0) return "must be an amount in CNY such as 0.5, or empty for none";
    settings.*kind.field = amount->pico == 0 ? std::nullopt : amount;
    return std::nullopt;
  }
  std::optional<std::string> operator()(Providers const& /*kind*/) const {
    return "can only be set in the settings file";
  }
  std::optional<std::string> operator()(Level const& /*kind*/) const {
    using base::LogLevel;
    for (auto const& [name, level] :
         {std::pair{"debug", LogLevel::debug}, std::pair{"info", LogLevel::info},
          std::pair{"warn", LogLevel::warn}, std::pair{"error", LogLevel::error}}) {
      if (text != name) continue;
      settings.log.level = level;
      return std::nullopt;
    }
    return "must be debug, info, warn or error";
  }
  std::optional<std::string> operator()(Format const& /*kind*/) const {
    if (text != "human" && text != "json") return "must be human or json";
    settings.log.format = text == "json" ? base::LogFormat::json : base::LogFormat::human;
    return std::nullopt;
  }
};

}  // namespace

std::vector<Key> const& keys() {
  static std::vector<Key> const table{
      {"listen", Text{&Settings::listen}},
      {"data_dir", Text{&Settings::data_dir}},
      {"store", Text{&Settings::store}},
      {"stream", Text{&Settings::stream}},
      {"cores", WholeNumber{&Settings::cores, 0, 256}},
      {"log.level", Level{}},
      {"log.format", Format{}},
      {"auth.algorithm", Choice{&Settings::auth_algorithm, {"HS256", "RS256", "ES256"}}},
      {"auth.keys", List{&Settings::auth_keys}},
      {"auth.issuer", Text{&Settings::auth_issuer}},
      {"auth.audience", Text{&Settings::auth_audience}},
      {"http.keep_alive_s", WholeNumber{&Settings::keep_alive_s, 1, 3600}},
      {"http.subscriber_buffer_bytes", WholeNumber{&Settings::subscriber_buffer_bytes, 4096, 1LL << 30}},
      {"http.write_timeout_s", WholeNumber{&Settings::write_timeout_s, 1, 3600}},
      {"http.body_limit_bytes", WholeNumber{&Settings::body_limit_bytes, 1024, 1LL << 30}},
      {"http.small_body_limit_bytes", WholeNumber{&Settings::small_body_limit_bytes, 1024, 1LL << 30}},
      {"http.message_limit_bytes", WholeNumber{&Settings::message_limit_bytes, 1, 1LL << 30}},
      {"http.json_depth", WholeNumber{&Settings::json_depth, 4, 1000}},
      {"http.json_values", WholeNumber{&Settings::json_values, 100, 1LL << 30}},
      {"http.history_page_bytes", WholeNumber{&Settings::history_page_bytes, 4096, 1LL << 30}},
      {"http.header_timeout_s", WholeNumber{&Settings::header_timeout_s, 1, 3600}},
      {"http.body_timeout_s", WholeNumber{&Settings::body_timeout_s, 1, 3600}},
      {"http.idle_timeout_s", WholeNumber{&Settings::idle_timeout_s, 1, 3600}},
      {"http.max_connections", WholeNumber{&Settings::max_connections, 0, 10'000'000}},
      {"http.max_silent_connections", WholeNumber{&Settings::max_silent_connections, 16, 1'000'000}},
      {"http.requests_per_user_per_s", WholeNumber{&Settings::requests_per_user_per_s, 1, 1'000'000}},
      {"http.request_burst_per_user", WholeNumber{&Settings::request_burst_per_user, 1, 1'000'000}},
      {"http.streams_per_user", WholeNumber{&Settings::streams_per_user, 1, 1'000'000}},
      {"http.body_bytes_per_user", WholeNumber{&Settings::body_bytes_per_user, 1024, 1LL << 40}},
      {"http.body_bytes_total", WholeNumber{&Settings::body_bytes_total, 1024, 1LL << 40}},
      {"http.answer_bytes_per_user", WholeNumber{&Settings::answer_bytes_per_user, 1024, 1LL << 40}},
      {"http.allowed_origins", List{&Settings::allowed_origins}},
      {"http.static_dir", Text{&Settings::static_dir, true}},
      {"http.metrics", Choice{&Settings::metrics, {"open", "user", "off"}}},
      {"models.default", Text{&Settings::default_model, true}},
      {"models.fallbacks", List{&Settings::fallbacks}},
      {"models.prices", Text{&Settings::prices, true}},
      {"models.litellm_prices", Text{&Settings::litellm_prices, true}},
      {"models.providers", Providers{}},
      {"models.offline.word_delay_ms", WholeNumber{&Settings::word_delay_ms, 0, 60'000}},
      {"models.offline.words", WholeNumber{&Settings::words, 0, 1'000'000}},
      {"models.test.enabled", Switch{&Settings::test_model}},
      {"tools.timeout_s", WholeNumber{&Settings::tool_timeout_s, 1, 240}},
      {"tools.output_limit_bytes", WholeNumber{&Settings::tool_output_bytes, 1024, 1LL << 24}},
      {"tools.at_once_per_user", WholeNumber{&Settings::tools_at_once_per_user, 1, 1000}},
      {"tools.at_once", WholeNumber{&Settings::tools_at_once, 1, 10'000}},
      {"tools.sandbox", Choice{&Settings::tool_sandbox, {"available", "required"}}},
      {"tools.approval", List{&Settings::tool_approvals}},
      {"tools.approval_timeout_s", WholeNumber{&Settings::approval_timeout_s, 1, kYear}},
      {"tools.user", Text{&Settings::tool_user, true}},
      {"tools.modules", Text{&Settings::custom_modules_dir, true}},
      {"tools.modules_user", Text{&Settings::custom_module_user, true}},
      {"tools.test", Switch{&Settings::test_tool}},
      {"flows.dir", Text{&Settings::flows_dir, true}},
      {"flows.default", Text{&Settings::default_flow}},
      {"skills.dir", Text{&Settings::skills_dir, true}},
      {"budgets.run", Amount{&Settings::run_budget}},
      {"budgets.thread", Amount{&Settings::thread_budget}},
      {"budgets.user", Amount{&Settings::user_budget}},
      {"budgets.day", Amount{&Settings::day_budget}},
      {"runtime.drain_timeout_s", WholeNumber{&Settings::drain_timeout_s, 0, 3600}},
      {"runtime.max_recoveries", WholeNumber{&Settings::max_recoveries, 0, 1'000'000}},
      {"runtime.delta_flush_ms", WholeNumber{&Settings::delta_flush_ms, 1, 10'000}},
      {"runtime.runs_per_user", WholeNumber{&Settings::runs_per_user, 0, 1'000'000}},
      {"runtime.context_bytes", WholeNumber{&Settings::context_bytes, 4096, 1LL << 30}},
      {"runtime.storage_bytes_per_user", WholeNumber{&Settings::storage_bytes_per_user, 0, 1LL << 50}},
      {"dev.demo_data", Switch{&Settings::demo_data}},
      {"profile.upgrade_on_write", Switch{&Settings::upgrade_profiles}},
      {"retention.events_s", WholeNumber{&Settings::events_s, 0, 100 * kYear}},
      {"retention.sweep_s", WholeNumber{&Settings::sweep_s, 1, kYear}},
  };
  return table;
}

std::optional<std::string> assign(Settings& settings, Key const& key, std::string const& text) {
  return std::visit(Assign{settings, text}, key.kind);
}

}  // namespace runnel::app::setting

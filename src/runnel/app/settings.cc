#include "runnel/app/settings.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <variant>

#include "runnel/base/nearest_name.h"
#include "runnel/base/yaml_trouble.h"

namespace runnel::app {
namespace {

struct WholeNumber {
  std::int64_t Settings::*field;
  std::int64_t lowest;
  std::int64_t highest;
};
struct Text {
  std::string Settings::*field;
  bool may_be_empty = false;
};
struct Choice {
  std::string Settings::*field;
  std::vector<std::string> names;
};
struct Switch {
  bool Settings::*field;
};
// Several values: a YAML list, or one text with commas between them.
struct List {
  std::vector<std::string> Settings::*field;
};
// CNY; empty or 0: none.
struct Amount {
  std::optional<Money> Settings::*field;
};
struct Level {};
struct Format {};
// A list of maps, which only the file can have.
struct Providers {};

struct Key {
  std::string_view name;
  std::variant<WholeNumber, Text, Choice, Switch, List, Amount, Level, Format, Providers> kind;
};

constexpr std::int64_t kYear = 366LL * 24 * 3600;

// The whole configuration surface: the file, the environment and the flags go through these rows.
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
      {"tools.test", Switch{&Settings::test_tool}},
      {"flows.dir", Text{&Settings::flows_dir, true}},
      {"flows.default", Text{&Settings::default_flow}},
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
      {"profile.upgrade_on_write", Switch{&Settings::upgrade_profiles}},
      {"retention.events_s", WholeNumber{&Settings::events_s, 0, 100 * kYear}},
      {"retention.sweep_s", WholeNumber{&Settings::sweep_s, 1, kYear}},
  };
  return table;
}

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
      // Most likely something that was to be filled in; without keys the server would run in dev mode.
      if (item.empty()) return "must not have empty items; for none leave it out, or write [] in the file";
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
    return "can only stand in the settings file";
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

Key const* find_key(std::string_view name) {
  auto const it =
      std::find_if(keys().begin(), keys().end(), [&](Key const& key) { return key.name == name; });
  return it == keys().end() ? nullptr : &*it;
}

std::vector<std::string> known_beside(std::string const& prefix) {
  std::set<std::string> names;
  for (auto const& key : keys()) {
    if (!key.name.starts_with(prefix)) continue;
    auto const rest = key.name.substr(prefix.size());
    names.emplace(rest.substr(0, rest.find('.')));
  }
  return {names.begin(), names.end()};
}

// Of a section's settings, and of those that stand elsewhere under that name.
std::string unknown_setting(std::string const& prefix, std::string const& name) {
  auto const here = known_beside(prefix);
  auto meant = base::did_you_mean(name, here);
  for (auto const& key : keys()) {
    if (meant.empty() && key.name.ends_with("." + name)) meant = fmt::format("; did you mean {}?", key.name);
  }
  return fmt::format("unknown setting '{}{}'; known here: {}{}", prefix, name, fmt::join(here, ", "), meant);
}

bool is_section(std::string const& name) {
  return std::any_of(keys().begin(), keys().end(),
                     [&](Key const& key) { return key.name.starts_with(name + "."); });
}

Error wrong(std::string detail) {
  return Error{Errc::invalid, std::move(detail)};
}

// Puts what a file has into the settings, and collects what is wrong with it.
class FileReader {
 public:
  FileReader(std::string file, Settings& settings) : file_{std::move(file)}, settings_{settings} {}

  // One level of the file.
  void read(YAML::Node const& node, std::string const& prefix) {
    if (node.IsNull()) return;
    if (!node.IsMap()) return tell(node, "expected a map of settings");
    std::set<std::string> seen;
    for (auto const& entry : node) {
      auto const name = entry.first.as<std::string>("");
      if (seen.insert(name).second) {
        read_entry(entry.first, entry.second, prefix, name);
      } else {
        tell(entry.first, fmt::format("'{}{}' is set twice", prefix, name));
      }
    }
  }

  void tell(YAML::Node const& node, std::string const& what) {
    problems_.push_back(fmt::format("{}:{}: {}", file_, node.Mark().line + 1, what));
  }

  [[nodiscard]] Result<void> result() const {
    if (problems_.empty()) return {};
    return wrong(fmt::format("{}", fmt::join(problems_, "\n")));
  }

 private:
  void read_entry(YAML::Node const& at, YAML::Node const& value, std::string const& prefix,
                  std::string const& name) {
    auto const path = prefix + name;
    if (is_section(path)) return read(value, path + ".");
    auto const* key = find_key(path);
    if (key == nullptr) return tell(at, unknown_setting(prefix, name));
    if (std::holds_alternative<Providers>(key->kind)) return read_providers_at(value);
    bool const is_list = std::holds_alternative<List>(key->kind);
    if (is_list && value.IsSequence() && value.size() == 0) {
      settings_.*std::get<List>(key->kind).field = {};
      return;
    }
    auto const text = is_list            ? joined(value)
                      : value.IsScalar() ? std::optional{value.Scalar()}
                                         : std::nullopt;
    if (!text) {
      return tell(value,
                  fmt::format("'{}' must be a {}", path, is_list ? "list of single values" : "single value"));
    }
    auto const problem = std::visit(Assign{settings_, *text}, key->kind);
    if (problem) tell(value, fmt::format("'{}' {}", path, *problem));
  }

  void read_providers_at(YAML::Node const& value) {
    auto providers = read_providers(value, file_);
    if (providers) {
      settings_.providers = std::move(*providers);
    } else {
      problems_.push_back(providers.error().detail);
    }
  }

  // A list's values with commas between them; none: it has others inside.
  static std::optional<std::string> joined(YAML::Node const& value) {
    if (value.IsScalar()) return value.Scalar();
    if (!value.IsSequence()) return std::nullopt;
    std::vector<std::string> items;
    for (auto const& item : value) {
      if (!item.IsScalar()) return std::nullopt;
      items.push_back(item.Scalar());
    }
    return fmt::format("{}", fmt::join(items, ","));
  }

  std::string file_;
  Settings& settings_;
  std::vector<std::string> problems_;
};

Error no_yaml(std::string const& file, YAML::Exception const& error) {
  std::ifstream in{file, std::ios::binary};
  std::string const text{std::istreambuf_iterator<char>{in}, {}};
  auto const [mark, what] = base::explain_yaml(error, text);
  return wrong(fmt::format("{}:{}: {}", file, mark.line + 1, what));
}

Result<void> read_file(std::string const& file, Settings& settings) {
  try {
    FileReader reader{file, settings};
    auto const documents = YAML::LoadAllFromFile(file);
    if (documents.size() > 1) reader.tell(documents[1], "a second document begins here; a file has one");
    if (!documents.empty()) reader.read(documents.front(), "");
    return reader.result();
  } catch (YAML::BadFile const&) {
    return wrong(fmt::format("{}: cannot be read", file));
  } catch (YAML::Exception const& error) {
    return no_yaml(file, error);
  }
}

}  // namespace

std::string environment_name(std::string_view key) {
  std::string name = "RUNNEL_";
  for (char const c : key)
    name += c == '.' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return name;
}

std::vector<std::string> setting_keys() {
  std::vector<std::string> names;
  for (auto const& key : keys())
    names.emplace_back(key.name);
  return names;
}

std::vector<std::string> unknown_variables(char const* const* environment) {
  std::vector<std::string> unknown;
  for (auto const* const* entry = environment; *entry != nullptr; ++entry) {
    std::string_view const variable = *entry;
    auto const name = variable.substr(0, variable.find('='));
    bool const known = std::any_of(keys().begin(), keys().end(),
                                   [name](Key const& key) { return environment_name(key.name) == name; });
    if (name.starts_with("RUNNEL_") && !known && !is_provider_variable(name)) unknown.emplace_back(name);
  }
  return unknown;
}

std::string about_unknown_variable(std::string const& name) {
  std::vector<std::string> known;
  for (auto const& key : keys())
    known.push_back(environment_name(key.name));
  for (auto const* variable :
       {"RUNNEL_MODEL", "RUNNEL_MODEL_BASE_URL", "RUNNEL_MODEL_API_KEY", "RUNNEL_MODEL_PRICE"})
    known.emplace_back(variable);
  return fmt::format("the environment variable {} is no setting{}", name, base::did_you_mean(name, known));
}

Result<Settings> load_settings(std::string const& file, char const* const* environment,
                               std::vector<Override> flags) {
  Settings settings;
  if (!file.empty()) {
    auto const read = read_file(file, settings);
    if (!read) return read.error();
  }
  for (auto const* const* entry = environment; *entry != nullptr; ++entry) {
    std::string_view const variable = *entry;
    auto const name = variable.substr(0, variable.find('='));
    auto const key = std::find_if(keys().begin(), keys().end(), [&](Key const& candidate) {
      return environment_name(candidate.name) == name;
    });
    if (key == keys().end()) continue;
    std::string const value{variable.substr(std::min(name.size() + 1, variable.size()))};
    if (value.empty() && std::holds_alternative<List>(key->kind))
      return wrong(fmt::format("environment variable {} is empty; unset it for the file's value", name));
    auto const problem = std::visit(Assign{settings, value}, key->kind);
    if (problem) return wrong(fmt::format("environment variable {} {}", name, *problem));
  }
  auto providers = with_environment(std::move(settings.providers), environment);
  if (!providers) return providers.error();
  settings.providers = std::move(*providers);
  for (auto const& flag : flags) {
    auto const* key = find_key(flag.key);
    if (key == nullptr) return wrong(fmt::format("no setting is called '{}'", flag.key));
    auto const problem = std::visit(Assign{settings, flag.value}, key->kind);
    if (problem) return wrong(fmt::format("'{}' {}", flag.key, *problem));
  }
  return settings;
}

}  // namespace runnel::app

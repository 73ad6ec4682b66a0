#include "runnel/app/settings.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <variant>

namespace runnel::app {
namespace {

struct WholeNumber {
  std::int64_t Settings::*field;
  std::int64_t lowest;
  std::int64_t highest;
};
struct Text {
  std::string Settings::*field;
};
struct Level {};
struct Format {};

struct Key {
  std::string_view name;
  std::variant<WholeNumber, Text, Level, Format> kind;
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
      {"http.keep_alive_s", WholeNumber{&Settings::keep_alive_s, 1, 3600}},
      {"http.subscriber_buffer_bytes", WholeNumber{&Settings::subscriber_buffer_bytes, 4096, 1LL << 30}},
      {"http.write_timeout_s", WholeNumber{&Settings::write_timeout_s, 1, 3600}},
      {"http.body_limit_bytes", WholeNumber{&Settings::body_limit_bytes, 1024, 1LL << 30}},
      {"models.offline.word_delay_ms", WholeNumber{&Settings::word_delay_ms, 0, 60'000}},
      {"models.offline.words", WholeNumber{&Settings::words, 0, 1'000'000}},
      {"runtime.drain_timeout_s", WholeNumber{&Settings::drain_timeout_s, 0, 3600}},
      {"runtime.max_recoveries", WholeNumber{&Settings::max_recoveries, 0, 1'000'000}},
      {"runtime.delta_flush_ms", WholeNumber{&Settings::delta_flush_ms, 1, 10'000}},
      {"runtime.context_messages", WholeNumber{&Settings::context_messages, 1, 10'000}},
      {"retention.events_s", WholeNumber{&Settings::events_s, 0, 100 * kYear}},
      {"retention.sweep_s", WholeNumber{&Settings::sweep_s, 1, kYear}},
  };
  return table;
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
    if (text.empty()) return "must not be empty";
    settings.*kind.field = text;
    return std::nullopt;
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

std::string known_beside(std::string const& prefix) {
  std::set<std::string> names;
  for (auto const& key : keys()) {
    if (!key.name.starts_with(prefix)) continue;
    auto const rest = key.name.substr(prefix.size());
    names.emplace(rest.substr(0, rest.find('.')));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

bool is_section(std::string const& name) {
  return std::any_of(keys().begin(), keys().end(),
                     [&](Key const& key) { return key.name.starts_with(name + "."); });
}

Error wrong(std::string detail) {
  return Error{Errc::invalid, std::move(detail)};
}

// One level of the file.
class FileReader {
 public:
  FileReader(std::string file, Settings& settings) : file_{std::move(file)}, settings_{settings} {}

  Result<void> read(YAML::Node const& node, std::string const& prefix) {
    if (node.IsNull()) return {};
    if (!node.IsMap()) return wrong(fmt::format("{}: expected a map of settings", place(node)));
    std::set<std::string> seen;
    for (auto const& entry : node) {
      auto const name = entry.first.as<std::string>("");
      if (!seen.insert(name).second) {
        return wrong(fmt::format("{}: '{}{}' is set twice", place(entry.first), prefix, name));
      }
      auto result = read_entry(entry.first, entry.second, prefix, name);
      if (!result) return result;
    }
    return {};
  }

 private:
  Result<void> read_entry(YAML::Node const& at, YAML::Node const& value, std::string const& prefix,
                          std::string const& name) {
    auto const path = prefix + name;
    if (is_section(path)) return read(value, path + ".");
    auto const* key = find_key(path);
    if (key == nullptr) {
      return wrong(
          fmt::format("{}: unknown setting '{}'; known here: {}", place(at), path, known_beside(prefix)));
    }
    if (!value.IsScalar()) return wrong(fmt::format("{}: '{}' must be a single value", place(value), path));
    auto const problem = std::visit(Assign{settings_, value.Scalar()}, key->kind);
    if (problem) return wrong(fmt::format("{}: '{}' {}", place(value), path, *problem));
    return {};
  }

  [[nodiscard]] std::string place(YAML::Node const& node) const {
    return fmt::format("{}:{}", file_, node.Mark().line + 1);
  }

  std::string file_;
  Settings& settings_;
};

Result<void> read_file(std::string const& file, Settings& settings) {
  try {
    return FileReader{file, settings}.read(YAML::LoadFile(file), "");
  } catch (YAML::BadFile const&) {
    return wrong(fmt::format("{}: cannot be read", file));
  } catch (YAML::Exception const& error) {
    return wrong(fmt::format("{}:{}: {}", file, error.mark.line + 1, error.msg));
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
    auto const problem = std::visit(Assign{settings, value}, key->kind);
    if (problem) return wrong(fmt::format("environment variable {} {}", name, *problem));
  }
  for (auto const& flag : flags) {
    auto const* key = find_key(flag.key);
    if (key == nullptr) return wrong(fmt::format("no setting is called '{}'", flag.key));
    auto const problem = std::visit(Assign{settings, flag.value}, key->kind);
    if (problem) return wrong(fmt::format("'{}' {}", flag.key, *problem));
  }
  return settings;
}

}  // namespace runnel::app

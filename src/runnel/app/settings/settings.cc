#include "runnel/app/settings/settings.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <variant>

#include "runnel/app/settings/setting_table.h"
#include "runnel/base/nearest_name.h"
#include "runnel/base/yaml/trouble.h"

namespace runnel::app {

using setting::keys;

namespace {

setting::Key const* find_key(std::string_view name) {
  auto const it =
      std::find_if(keys().begin(), keys().end(), [&](setting::Key const& key) { return key.name == name; });
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

// Suggests a setting of the same section, or a setting of another section with the same name.
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
                     [&](setting::Key const& key) { return key.name.starts_with(name + "."); });
}

Error wrong(std::string detail) {
  return Error{Errc::invalid, std::move(detail)};
}

// Copies the values of a file into the settings, and collects its mistakes.
class FileReader {
 public:
  FileReader(std::string file, Settings& settings) : file_{std::move(file)}, settings_{settings} {}

  // Reads one level of the file.
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
    if (std::holds_alternative<setting::Providers>(key->kind)) return read_providers_at(value);
    bool const is_list = std::holds_alternative<setting::List>(key->kind);
    if (is_list && value.IsSequence() && value.size() == 0) {
      settings_.*std::get<setting::List>(key->kind).field = {};
      return;
    }
    auto const text = is_list            ? joined(value)
                      : value.IsScalar() ? std::optional{value.Scalar()}
                                         : std::nullopt;
    if (!text) {
      return tell(value,
                  fmt::format("'{}' must be a {}", path, is_list ? "list of single values" : "single value"));
    }
    auto const problem = setting::assign(settings_, *key, *text);
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

  // The values of a list with commas between them. Empty if an item of the list is not a single value.
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
    if (documents.size() > 1)
      reader.tell(documents[1], "a second document begins here; a file must have only one");
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
    bool const known = std::any_of(keys().begin(), keys().end(), [name](setting::Key const& key) {
      return environment_name(key.name) == name;
    });
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
  return fmt::format("the environment variable {} is not a setting{}", name, base::did_you_mean(name, known));
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
    auto const key = std::find_if(keys().begin(), keys().end(), [&](setting::Key const& candidate) {
      return environment_name(candidate.name) == name;
    });
    if (key == keys().end()) continue;
    std::string const value{variable.substr(std::min(name.size() + 1, variable.size()))};
    if (value.empty() && std::holds_alternative<setting::List>(key->kind))
      return wrong(fmt::format("environment variable {} is empty; unset it to use the file's value", name));
    auto const problem = setting::assign(settings, *key, value);
    if (problem) return wrong(fmt::format("environment variable {} {}", name, *problem));
  }
  auto providers = with_environment(std::move(settings.providers), environment);
  if (!providers) return providers.error();
  settings.providers = std::move(*providers);
  for (auto const& flag : flags) {
    auto const* key = find_key(flag.key);
    if (key == nullptr) return wrong(fmt::format("there is no setting '{}'", flag.key));
    auto const problem = setting::assign(settings, *key, flag.value);
    if (problem) return wrong(fmt::format("'{}' {}", flag.key, *problem));
  }
  return settings;
}

}  // namespace runnel::app

#include "runnel/app/settings/provider_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include "runnel/base/nearest_name.h"
#include "runnel/model/openai/vendor.h"

namespace runnel::app {
namespace {

struct TextKey {
  std::string ProviderSettings::*field;
};
struct NamesKey {
  std::vector<std::string> ProviderSettings::*field;
};
struct SwitchKey {
  bool ProviderSettings::*field;
};
struct NumberKey {
  std::int64_t ProviderSettings::*field;
  std::int64_t lowest;
  std::int64_t highest;
};

struct ProviderKey {
  std::string_view name;
  std::variant<TextKey, NamesKey, SwitchKey, NumberKey> kind;
};

std::vector<ProviderKey> const& provider_keys() {
  using S = ProviderSettings;
  static std::vector<ProviderKey> const table{
      {"name", TextKey{&S::name}},
      {"profile", TextKey{&S::profile}},
      {"base_url", TextKey{&S::base_url}},
      {"api_key_env", TextKey{&S::api_key_env}},
      {"api_key_file", TextKey{&S::api_key_file}},
      {"models", NamesKey{&S::models}},
      {"free", SwitchKey{&S::free}},
      {"thinking", TextKey{&S::thinking}},
      {"reasoning_effort", TextKey{&S::reasoning_effort}},
      {"max_output_tokens", NumberKey{&S::max_output_tokens, 0, 10'000'000}},
      {"connect_timeout_s", NumberKey{&S::connect_timeout_s, 1, 600}},
      {"first_token_timeout_s", NumberKey{&S::first_token_timeout_s, 1, 3600}},
      {"idle_timeout_s", NumberKey{&S::idle_timeout_s, 1, 3600}},
      {"total_timeout_s", NumberKey{&S::total_timeout_s, 1, 86'400}},
      {"http2", SwitchKey{&S::http2}},
  };
  return table;
}

std::vector<std::string> known_keys() {
  std::vector<std::string> names;
  for (auto const& key : provider_keys())
    names.emplace_back(key.name);
  return names;
}

// Puts the node's value into the setting, or says what it should have been.
struct AssignKey {
  ProviderSettings& settings;
  YAML::Node const& node;

  std::optional<std::string> operator()(TextKey const& kind) const {
    if (!node.IsScalar()) return "must be a single value";
    settings.*kind.field = node.Scalar();
    return std::nullopt;
  }
  std::optional<std::string> operator()(NamesKey const& kind) const {
    if (!node.IsSequence()) return "must be a list";
    for (auto const& item : node) {
      if (!item.IsScalar() || item.Scalar().empty()) return "must be a list of names";
      (settings.*kind.field).push_back(item.Scalar());
    }
    return std::nullopt;
  }
  std::optional<std::string> operator()(SwitchKey const& kind) const {
    if (!node.IsScalar() || (node.Scalar() != "true" && node.Scalar() != "false"))
      return "must be true or false";
    settings.*kind.field = node.Scalar() == "true";
    return std::nullopt;
  }
  std::optional<std::string> operator()(NumberKey const& kind) const {
    std::int64_t value = 0;
    if (!node.IsScalar() || !YAML::convert<std::int64_t>::decode(node, value) || value < kind.lowest ||
        value > kind.highest) {
      return fmt::format("must be a whole number from {} to {}", kind.lowest, kind.highest);
    }
    settings.*kind.field = value;
    return std::nullopt;
  }
};

struct KnownVendor {
  std::string_view profile;
  std::string_view base_url;
  std::string_view key_variable;
  std::vector<std::string> models;
};

// The addresses of the vendors, and the models that are available with only the vendor's key. The first model
// is the default.
std::vector<KnownVendor> const& vendors() {
  static std::vector<KnownVendor> const table{
      {"deepseek",
       "https://api.deepseek.com",
       "DEEPSEEK_API_KEY",
       {"deepseek-flash", "deepseek-v4-flash", "deepseek-v4-pro"}},
      {"dashscope",
       "https://dashscope.aliyuncs.com/compatible-mode/v1",
       "DASHSCOPE_API_KEY",
       {"qwen-plus", "qwen-flash", "qwen-max", "qwen3-max", "qwen3.5-plus", "qwen3.5-flash", "qwen3.6-plus",
        "qwen3.6-flash", "qwen3.7-plus", "qwen3.7-flash", "qwen3.7-max", "qwen3.8-flash",
        "qwen3-coder-plus"}},
      {"openai", "https://api.openai.com/v1", "OPENAI_API_KEY", {}},
  };
  return table;
}

KnownVendor const* find_known_vendor(std::string_view profile) {
  auto const it = std::find_if(vendors().begin(), vendors().end(),
                               [&](KnownVendor const& vendor) { return vendor.profile == profile; });
  return it == vendors().end() ? nullptr : &*it;
}

// The host of an address, without its port.
std::string_view host_of_address(std::string_view base_url) {
  auto const scheme = base_url.find("://");
  auto host = scheme == std::string_view::npos ? base_url : base_url.substr(scheme + 3);
  return host.substr(0, host.find_first_of("/:"));
}

bool is_under(std::string_view host, std::string_view domain) {
  return host == domain || (host.size() > domain.size() && host.ends_with(domain) &&
                            host[host.size() - domain.size() - 1] == '.');
}

// The vendor whose server is at the address.
std::string guess_profile(std::string_view base_url) {
  auto const host = host_of_address(base_url);
  if (is_under(host, "deepseek.com")) return "deepseek";
  if (is_under(host, "aliyuncs.com")) return "dashscope";
  if (is_under(host, "openai.com")) return "openai";
  return "local";
}

// Why "/chat/completions" cannot be appended to the address. Empty if it can.
std::optional<std::string> address_problem(ProviderSettings const& settings) {
  auto const& url = settings.base_url;
  bool const http = url.starts_with("http://") || url.starts_with("https://");
  if (!http || host_of_address(url).empty())
    return fmt::format("provider '{}' needs a 'base_url' with http:// or https:// and a host", settings.name);
  if (url.find_first_of("?#@ \t") != std::string::npos)
    return fmt::format("'base_url' of provider '{}' must not have ?, #, @ or spaces", settings.name);
  if (url.ends_with("/chat/completions"))
    return fmt::format("'base_url' of provider '{}' must not end with /chat/completions; leave that part out",
                       settings.name);
  return std::nullopt;
}

// Fills in what an entry leaves out. Returns what is missing or wrong, other than the form of single values.
std::optional<std::string> complete(ProviderSettings& settings) {
  if (settings.name.empty()) return "a provider needs a 'name'";
  if (settings.profile.empty()) {
    settings.profile =
        find_known_vendor(settings.name) != nullptr ? settings.name : guess_profile(settings.base_url);
  }
  if (!model::find_vendor(settings.profile)) {
    return fmt::format("unknown profile '{}'; known: {}", settings.profile,
                       fmt::join(model::vendor_names(), ", "));
  }
  auto const* const vendor = find_known_vendor(settings.profile);
  if (settings.base_url.empty() && vendor != nullptr) settings.base_url = vendor->base_url;
  while (settings.base_url.ends_with('/'))
    settings.base_url.pop_back();
  if (auto problem = address_problem(settings)) return problem;
  if (!settings.api_key_env.empty() && !settings.api_key_file.empty())
    return fmt::format("provider '{}' has both 'api_key_env' and 'api_key_file'", settings.name);
  // A vendor's key is for the vendor's own address.
  bool const vendors_own = vendor != nullptr && guess_profile(settings.base_url) == settings.profile;
  if (settings.api_key_env.empty() && settings.api_key_file.empty() && vendors_own)
    settings.api_key_env = vendor->key_variable;
  if (settings.models.empty() && vendor != nullptr) settings.models = vendor->models;
  if (settings.models.empty()) return fmt::format("provider '{}' needs 'models'", settings.name);
  if (settings.thinking != "default" && settings.thinking != "on" && settings.thinking != "off")
    return fmt::format("provider '{}': 'thinking' must be default, on or off", settings.name);
  return std::nullopt;
}

Error wrong(std::string const& file, YAML::Node const& node, std::string const& what) {
  return Error{Errc::invalid, fmt::format("{}:{}: {}", file, node.Mark().line + 1, what)};
}

Result<ProviderSettings> read_provider(YAML::Node const& node, std::string const& file) {
  if (!node.IsMap()) return wrong(file, node, "a provider must be a map of settings");
  ProviderSettings settings;
  std::set<std::string> seen;
  for (auto const& entry : node) {
    auto const name = entry.first.as<std::string>("");
    auto const key = std::find_if(provider_keys().begin(), provider_keys().end(),
                                  [&](ProviderKey const& k) { return k.name == name; });
    if (key == provider_keys().end()) {
      return wrong(file, entry.first,
                   fmt::format("unknown setting '{}' of a provider; known: {}{}", name,
                               fmt::join(known_keys(), ", "), base::did_you_mean(name, known_keys())));
    }
    if (!seen.insert(name).second) return wrong(file, entry.first, fmt::format("'{}' is set twice", name));
    auto const problem = std::visit(AssignKey{settings, entry.second}, key->kind);
    if (problem) return wrong(file, entry.second, fmt::format("'{}' {}", name, *problem));
  }
  if (auto const problem = complete(settings)) return wrong(file, node, *problem);
  return settings;
}

std::optional<std::string> variable(char const* const* environment, std::string_view name) {
  for (auto const* const* entry = environment; *entry != nullptr; ++entry) {
    std::string_view const text = *entry;
    if (text.size() > name.size() && text.starts_with(name) && text[name.size()] == '=')
      return std::string{text.substr(name.size() + 1)};
  }
  return std::nullopt;
}

// A variable with an empty value counts as not set, because scripts pass on unset variables that way.
std::string value_of(char const* const* environment, std::string_view name) {
  return variable(environment, name).value_or("");
}

constexpr std::array<std::string_view, 4> kModelVariables{"RUNNEL_MODEL", "RUNNEL_MODEL_BASE_URL",
                                                          "RUNNEL_MODEL_API_KEY", "RUNNEL_MODEL_PRICE"};

Result<std::optional<ProviderSettings>> named_model(char const* const* environment) {
  auto const base_url = value_of(environment, "RUNNEL_MODEL_BASE_URL");
  auto const name = value_of(environment, "RUNNEL_MODEL");
  if (base_url.empty() && name.empty()) {
    for (auto const* const variable : {"RUNNEL_MODEL_API_KEY", "RUNNEL_MODEL_PRICE"}) {
      if (!value_of(environment, variable).empty())
        return Error{
            Errc::invalid,
            fmt::format(
                "{} is set, but RUNNEL_MODEL names no model: set RUNNEL_MODEL and RUNNEL_MODEL_BASE_URL, too",
                variable)};
    }
    return std::nullopt;
  }
  if (base_url.empty() || name.empty()) {
    return Error{Errc::invalid,
                 "RUNNEL_MODEL_BASE_URL and RUNNEL_MODEL name a model together: set both, for example "
                 "RUNNEL_MODEL_BASE_URL=http://localhost:11434/v1 RUNNEL_MODEL=qwen3"};
  }
  ProviderSettings settings;
  settings.profile = guess_profile(base_url);
  settings.name = settings.profile;
  settings.from_environment = true;
  settings.base_url = base_url;
  settings.models = {name};
  settings.api_key = model::Secret{value_of(environment, "RUNNEL_MODEL_API_KEY")};
  settings.price = value_of(environment, "RUNNEL_MODEL_PRICE");
  if (auto const problem = complete(settings))
    return Error{Errc::invalid, fmt::format("RUNNEL_MODEL_BASE_URL: {}", *problem)};
  return settings;
}

}  // namespace

Result<std::vector<ProviderSettings>> read_providers(YAML::Node const& node, std::string const& file) {
  std::vector<ProviderSettings> out;
  if (node.IsNull()) return out;
  if (!node.IsSequence()) return wrong(file, node, "'models.providers' must be a list of providers");
  std::set<std::string> names;
  std::set<std::string> models;
  for (auto const& entry : node) {
    auto settings = read_provider(entry, file);
    if (!settings) return settings.error();
    if (!names.insert(settings->name).second)
      return wrong(file, entry, fmt::format("two providers are called '{}'", settings->name));
    for (auto const& model : settings->models) {
      if (!models.insert(model).second)
        return wrong(
            file, entry,
            fmt::format("two providers have a model '{}'; the second one would never be used", model));
    }
    out.push_back(std::move(*settings));
  }
  return out;
}

Result<std::vector<ProviderSettings>> with_environment(std::vector<ProviderSettings> configured,
                                                       char const* const* environment) {
  auto named = named_model(environment);
  if (!named) return named.error();
  bool const has_own = !configured.empty();
  if (*named) configured.insert(configured.begin(), std::move(**named));
  for (auto const* const profile : {"deepseek", "dashscope"}) {
    auto const* const vendor = find_known_vendor(profile);
    auto key = value_of(environment, vendor->key_variable);
    bool const is_there =
        std::any_of(configured.begin(), configured.end(),
                    [&](ProviderSettings const& provider) { return provider.name == profile; });
    if (key.empty() || is_there || has_own) continue;
    ProviderSettings settings;
    settings.name = profile;
    complete(settings);
    settings.api_key = model::Secret{std::move(key)};
    configured.push_back(std::move(settings));
  }
  return configured;
}

std::vector<VendorKey> vendor_keys() {
  std::vector<VendorKey> keys;
  for (auto const& vendor : vendors())
    keys.push_back({vendor.profile, vendor.key_variable, vendor.base_url, !vendor.models.empty()});
  return keys;
}

bool is_provider_variable(std::string_view name) {
  return std::find(kModelVariables.begin(), kModelVariables.end(), name) != kModelVariables.end();
}

}  // namespace runnel::app

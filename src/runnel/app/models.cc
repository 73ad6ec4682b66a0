#include "runnel/app/models.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "kPricesYaml.inc"
#include "runnel/base/tokens/key_file.h"
#include "runnel/http/auth/loopback.h"
#include "runnel/model/builtin/offline.h"
#include "runnel/model/builtin/paced_model.h"
#include "runnel/model/openai/provider.h"
#include "runnel/model/pricing/price_files.h"

namespace runnel::app {

using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

// Names in the price book that are not names of models.
constexpr char kFree[] = "(free)";
constexpr char kNamedPrice[] = "(RUNNEL_MODEL_PRICE)";

constexpr char kBuiltIn[] = "the built-in price list (conf/prices.yaml)";

Error unusable(std::string detail) {
  return Error{Errc::invalid, std::move(detail)};
}

bool is_pattern(std::string const& name) {
  return name.find('*') != std::string::npos;
}

std::string_view host_of(std::string_view url) {
  auto const scheme = url.find("://");
  auto rest = scheme == std::string_view::npos ? url : url.substr(scheme + 3);
  rest = rest.substr(0, rest.find_first_of("/?#"));
  auto const user = rest.rfind('@');
  return user == std::string_view::npos ? rest : rest.substr(user + 1);
}

Result<void> add_prices(ProviderSettings const& provider, model::PriceBook& book, std::int64_t now_ms,
                        std::string const& file) {
  if (!provider.price.empty()) {
    auto prices = model::parse_price_setting(kNamedPrice, provider.price);
    if (!prices) return prices.error();
    book.put(std::move(*prices));
  }
  if (!shared_price(provider).empty() || book.unpriced(provider.models, now_ms).empty()) return {};
  if (!provider.from_environment) return book.require(provider.models, now_ms, file);
  return unusable(
      fmt::format("RUNNEL_MODEL={} has no price in {}, and its address is not this machine's: set "
                  "RUNNEL_MODEL_PRICE to its price in CNY per million tokens as INPUT,OUTPUT or "
                  "INPUT,OUTPUT,CACHE_HIT, or to free",
                  provider.models.front(), file));
}

// The built-in list is in the binary, so the operator must add prices to a copy.
Error with_way_to_change(Error error, ProviderSettings const& provider) {
  if (provider.from_environment) return error;
  error.detail += fmt::format(
      "\nto change the built-in price list, copy conf/prices.yaml and name the copy in models.prices; if all "
      "models of provider '{}' cost nothing, add free: true to its settings instead",
      provider.name);
  return error;
}

Result<model::Secret> find_key(ProviderSettings const& provider, char const* const* environment) {
  if (!provider.api_key.empty()) return provider.api_key;
  if (!provider.api_key_file.empty()) {
    auto text = base::read_key_file(provider.api_key_file, base::KeyKind::secret);
    if (!text) return unusable(fmt::format("provider '{}': {}", provider.name, text.error().detail));
    while (!text->empty() && (text->back() == '\n' || text->back() == '\r'))
      text->pop_back();
    if (text->empty()) return unusable(fmt::format("{} is empty", provider.api_key_file));
    return model::Secret{std::move(*text)};
  }
  if (provider.api_key_env.empty()) return model::Secret{};
  auto const prefix = provider.api_key_env + "=";
  for (auto const* const* entry = environment; *entry != nullptr; ++entry) {
    std::string_view const text = *entry;
    if (text.starts_with(prefix) && text.size() > prefix.size())
      return model::Secret{std::string{text.substr(prefix.size())}};
  }
  return unusable(fmt::format(
      "provider '{}' needs its key in the environment variable {}, which is not set; set it, {}",
      provider.name, provider.api_key_env,
      provider.from_environment ? "or set RUNNEL_MODEL_API_KEY" : "or name a file with api_key_file"));
}

// Whether the key has a character that would break the head of a request.
bool has_control(std::string_view key) {
  return std::any_of(key.begin(), key.end(), [](unsigned char c) { return c < 0x20 || c == 0x7F; });
}

Result<model::ProviderOptions> provider_options(ProviderSettings const& settings,
                                                char const* const* environment) {
  auto key = find_key(settings, environment);
  if (!key) return key.error();
  if (has_control(key->reveal())) {
    return unusable(fmt::format("provider '{}': its key has a line break or another control character in it",
                                settings.name));
  }
  model::ProviderOptions options;
  options.name = settings.name;
  options.vendor = *model::find_vendor(settings.profile);
  options.base_url = settings.base_url;
  options.api_key = std::move(*key);
  options.models = settings.models;
  options.price_name = shared_price(settings);
  options.timeouts.connect = seconds{settings.connect_timeout_s};
  options.timeouts.first_payload = seconds{settings.first_token_timeout_s};
  options.timeouts.idle_payload = seconds{settings.idle_timeout_s};
  options.timeouts.idle_bytes = seconds{settings.idle_timeout_s};
  options.timeouts.total = seconds{settings.total_timeout_s};
  options.thinking = settings.thinking == "on"    ? model::Thinking::on
                     : settings.thinking == "off" ? model::Thinking::off
                                                  : model::Thinking::vendor_default;
  options.reasoning_effort = settings.reasoning_effort;
  if (settings.max_output_tokens > 0) options.max_output_tokens = settings.max_output_tokens;
  options.http2 = settings.http2;
  return options;
}

Result<std::vector<model::ProviderOptions>> all_options(Settings const& settings,
                                                        char const* const* environment) {
  std::vector<model::ProviderOptions> out;
  for (auto const& provider : settings.providers) {
    auto options = provider_options(provider, environment);
    if (!options) return options.error();
    out.push_back(std::move(*options));
  }
  return out;
}

std::vector<std::unique_ptr<model::Provider>> local_providers(Settings const& settings) {
  std::vector<std::unique_ptr<model::Provider>> out;
  out.push_back(std::make_unique<model::OfflineProvider>(
      model::OfflineOptions{milliseconds{settings.word_delay_ms}, static_cast<std::size_t>(settings.words)}));
  if (settings.test_model) out.push_back(std::make_unique<model::PacedModelProvider>());
  return out;
}

// The first name that is not a pattern, in the order of the providers. If there is none, the offline model.
std::string first_name(Settings const& settings) {
  for (auto const& provider : settings.providers) {
    for (auto const& name : provider.models) {
      if (!is_pattern(name)) return name;
    }
  }
  return "offline";
}

Result<void> check_names(Settings const& settings, model::Registry const& registry) {
  auto names = settings.fallbacks;
  if (!settings.default_model.empty()) names.push_back(settings.default_model);
  for (auto const& name : names) {
    if (registry.find(name) != nullptr) continue;
    return unusable(fmt::format("models.{}: no provider has a model '{}'; known: {}",
                                name == settings.default_model ? "default" : "fallbacks", name,
                                fmt::join(registry.names(), ", ")));
  }
  return {};
}

Result<std::unique_ptr<model::Registry>> make_registry(Settings const& settings,
                                                       char const* const* environment,
                                                       model::Post const& post) {
  auto all = all_options(settings, environment);
  if (!all) return all.error();
  std::vector<std::unique_ptr<model::Provider>> providers;
  for (auto& options : *all)
    providers.push_back(std::make_unique<model::OpenAiProvider>(std::move(options), post));
  for (auto& provider : local_providers(settings))
    providers.push_back(std::move(provider));
  // A model that the environment names comes before the file's default.
  bool const named = !settings.providers.empty() && settings.providers.front().from_environment &&
                     !is_pattern(settings.providers.front().models.front());
  auto const default_name =
      named || settings.default_model.empty() ? first_name(settings) : settings.default_model;
  auto registry = std::make_unique<model::Registry>(std::move(providers), default_name, settings.fallbacks);
  auto const checked = check_names(settings, *registry);
  if (!checked) return checked.error();
  return registry;
}

}  // namespace

bool is_on_this_machine(ProviderSettings const& provider) {
  return http::is_loopback_host(host_of(provider.base_url));
}

std::string shared_price(ProviderSettings const& provider) {
  if (!provider.price.empty()) return kNamedPrice;
  bool const local = provider.from_environment && is_on_this_machine(provider);
  return provider.free || local ? kFree : "";
}

Result<model::PriceBook> load_prices(Settings const& settings, std::int64_t now_ms) {
  std::string const file = settings.prices.empty() ? kBuiltIn : settings.prices;
  auto loaded = model::load_price_book(settings.prices, settings.litellm_prices, now_ms);
  if (!loaded) return loaded.error();
  auto book = std::move(*loaded);
  if (settings.prices.empty()) {
    auto const built_in = model::parse_price_yaml(std::string{kPricesYaml}, file, now_ms);
    if (!built_in) return built_in.error();
    for (auto const& prices : *built_in)
      book.put(prices);
  }
  book.put(model::free_model(kFree));
  book.put(model::free_model("offline"));
  if (settings.test_model) book.put(model::free_model("tok-*"));
  for (auto const& provider : settings.providers) {
    auto const added = add_prices(provider, book, now_ms, file);
    if (!added) return settings.prices.empty() ? with_way_to_change(added.error(), provider) : added.error();
  }
  return book;
}

Result<Models> make_models(Settings const& settings, char const* const* environment, base::Cores& cores,
                           std::int64_t now_ms) {
  auto prices = load_prices(settings, now_ms);
  if (!prices) return prices.error();
  Models models;
  for (std::size_t core = 0; core < cores.size(); ++core)
    models.clients.push_back(std::make_unique<net::HttpClient>(cores.at(core), net::HttpClient::Options{}));
  std::vector<net::HttpClient*> clients;
  for (auto const& client : models.clients)
    clients.push_back(client.get());
  auto registry = make_registry(settings, environment, [clients, &cores](net::HttpRequest request) {
    return clients.at(cores.current())->post(std::move(request));
  });
  if (!registry) return registry.error();
  models.registry = std::move(*registry);
  models.prices = std::move(*prices);
  return models;
}

CheckedModels check_models(Settings const& settings, char const* const* environment, std::int64_t now_ms) {
  CheckedModels checked;
  auto prices = load_prices(settings, now_ms);
  if (prices) {
    checked.prices = std::move(*prices);
  } else {
    checked.problems.push_back(prices.error().detail);
  }
  auto registry = make_registry(settings, environment, nullptr);
  if (registry) {
    checked.registry = std::move(*registry);
  } else {
    checked.problems.push_back(registry.error().detail);
  }
  return checked;
}

}  // namespace runnel::app

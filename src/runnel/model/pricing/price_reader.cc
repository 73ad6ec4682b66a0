#include "runnel/model/pricing/price_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "runnel/core/money/decimal.h"
#include "runnel/core/time/instant.h"

namespace runnel::model {
namespace {

constexpr int kPicoDecimals = 12;
constexpr int kMillionDigits = 6;
constexpr int kOneDigits = 0;

enum class Zero { allowed, refused };

std::string_view words_for(DecimalFault fault) {
  switch (fault) {
    case DecimalFault::not_a_number:
      return "must be a decimal number";
    case DecimalFault::negative:
      return "must not be negative";
    case DecimalFault::too_fine:
      return "is finer than 1e-12 CNY per token, the smallest unit that is kept";
    case DecimalFault::too_large:
      break;
  }
  return "is more than 10000 CNY per million tokens";
}

class Reader {
 public:
  Reader(PriceDefaults const& defaults, YamlProblems& problems) : defaults_{defaults}, problems_{problems} {}

  PriceEntry entry(YAML::Node const& node) {
    YamlFields const fields{
        node,
        {"currency", "from", "until", "zone", "per_million_tokens", "tiers", "windows", "pricing_tiers",
         "input_cost_per_token", "output_cost_per_token", "cache_hit_cost_per_token"},
        problems_};
    PriceEntry entry;
    check_entry_currency(node, fields);
    entry.zone = defaults_.zone;
    if (auto const* zone = fields.find("zone")) entry.zone = read_zone(*zone, problems_);
    read_span(node, fields, entry);
    entry.tiers = tiers_of(node, fields);
    for (auto const& window : fields.list("windows"))
      entry.windows.push_back(window_of(window));
    if (!entry.windows.empty() && !entry.zone && !fields.has("zone"))
      problems_.add(node, "an entry with windows needs a 'zone', such as Asia/Shanghai");
    check_overlaps(fields.list("windows"), entry.windows);
    return entry;
  }

  std::vector<Tier> pricing_tiers(YAML::Node const& list) {
    if (!list.IsSequence() || list.size() == 0) {
      problems_.add(list, "'pricing_tiers' must be a list of at least one tier");
      return {};
    }
    std::vector<Tier> tiers;
    for (YAML::Node const& node : list) {
      YamlFields const fields{
          node,
          {"max_prompt_tokens", "input_cost_per_token", "output_cost_per_token", "cache_hit_cost_per_token"},
          problems_};
      Tier tier;
      if (tiers.size() + 1 < list.size()) tier.max_prompt_tokens = limit_of(node, fields);
      tier.rates = token_rates(node, fields);
      tiers.push_back(tier);
      check_ascending(node, tiers);
    }
    return tiers;
  }

 private:
  void check_entry_currency(YAML::Node const& node, YamlFields const& fields) {
    if (auto const* currency = fields.find("currency")) {
      check_currency(*currency, problems_);
    } else if (!defaults_.currency) {
      problems_.add(node, "'currency' is missing; add currency: CNY, here or for the whole file");
    }
  }

  void read_span(YAML::Node const& node, YamlFields const& fields, PriceEntry& entry) {
    entry.from = fields.text("from").value_or("");
    entry.until = fields.text("until").value_or("");
    entry.from_ms = instant(fields, "from", entry.zone);
    entry.until_ms = instant(fields, "until", entry.zone);
    if (entry.from_ms && entry.until_ms && *entry.from_ms >= *entry.until_ms)
      problems_.add(node, "'until' must be later than 'from'");
  }

  std::optional<std::int64_t> instant(YamlFields const& fields, std::string_view key,
                                      std::optional<Zone> const& zone) {
    auto const text = fields.text(key);
    if (!text) return std::nullopt;
    auto const& place = *fields.find(key);
    if (!zone && !fields.has("zone") && parse_day(*text)) {
      problems_.add(
          place,
          fmt::format("'{}' is a day, which begins at a different time in each zone; add a 'zone'", key));
      return std::nullopt;
    }
    auto const ms = zone ? parse_instant(*text, *zone) : parse_instant(*text);
    if (!ms) {
      problems_.add(
          place,
          fmt::format("'{}' must be a day such as 2026-10-17 or an instant such as 2026-07-24T15:59:00Z",
                      key));
    }
    return ms;
  }

  std::vector<Tier> tiers_of(YAML::Node const& node, YamlFields const& fields) {
    auto const* flat = fields.find("per_million_tokens");
    auto const* per_token = fields.find("pricing_tiers");
    bool const flat_per_token = has_token_rates(fields);
    int const forms = (flat != nullptr ? 1 : 0) + (fields.has("tiers") ? 1 : 0) +
                      (per_token != nullptr ? 1 : 0) + (flat_per_token ? 1 : 0);
    if (forms != 1) {
      problems_.add(node, "the price must be given once, in either 'per_million_tokens' or 'tiers'");
      return {};
    }
    if (flat != nullptr) return {Tier{std::nullopt, rates_of(*flat)}};
    if (flat_per_token) return {Tier{std::nullopt, token_rates(node, fields)}};
    if (per_token != nullptr) return pricing_tiers(*per_token);
    return tier_list(*fields.find("tiers"), fields.list("tiers"));
  }

  static bool has_token_rates(YamlFields const& fields) {
    return fields.has("input_cost_per_token") || fields.has("output_cost_per_token") ||
           fields.has("cache_hit_cost_per_token");
  }

  std::vector<Tier> tier_list(YAML::Node const& place, std::vector<YAML::Node> const& nodes) {
    if (nodes.empty()) problems_.add(place, "'tiers' must have at least one tier");
    std::vector<Tier> tiers;
    for (auto const& node : nodes) {
      bool const last = tiers.size() + 1 == nodes.size();
      tiers.push_back(tier_of(node, last));
      check_ascending(node, tiers);
    }
    return tiers;
  }

  void check_ascending(YAML::Node const& newest, std::vector<Tier> const& tiers) {
    if (tiers.size() < 2 || !tiers.back().max_prompt_tokens) return;
    auto const& before = tiers[tiers.size() - 2].max_prompt_tokens;
    if (before && *tiers.back().max_prompt_tokens <= *before)
      problems_.add(newest, "'max_prompt_tokens' must be more than in the tier before");
  }

  Tier tier_of(YAML::Node const& node, bool last) {
    YamlFields const fields{node, {"max_prompt_tokens", "per_million_tokens"}, problems_};
    Tier tier;
    if (last && fields.has("max_prompt_tokens"))
      problems_.add(*fields.find("max_prompt_tokens"), "the last tier must not have 'max_prompt_tokens'");
    if (!last) tier.max_prompt_tokens = limit_of(node, fields);
    auto const* rates = fields.find("per_million_tokens");
    if (rates == nullptr) {
      problems_.add(node, "'per_million_tokens' is missing");
    } else {
      tier.rates = rates_of(*rates);
    }
    return tier;
  }

  std::optional<std::int64_t> limit_of(YAML::Node const& node, YamlFields const& fields) {
    auto const text = fields.text("max_prompt_tokens");
    if (!text) {
      if (!fields.has("max_prompt_tokens"))
        problems_.add(node, "'max_prompt_tokens' is missing; only the last tier has none");
      return std::nullopt;
    }
    auto const limit = parse_units(*text, 0);
    auto const* const value = std::get_if<std::int64_t>(&limit);
    if (value != nullptr && *value > 0) return *value;
    problems_.add(*fields.find("max_prompt_tokens"), "'max_prompt_tokens' must be a whole number above 0");
    return std::nullopt;
  }

  Rates rates_of(YAML::Node const& node) {
    YamlFields const fields{
        node, {"input", "output", "cache_hit", "cache_write", "thinking_output"}, problems_};
    Rates rates;
    rates.input = rate(node, fields, "input", Zero::refused);
    rates.output = rate(node, fields, "output", Zero::refused);
    rates.cache_hit = rate(node, fields, "cache_hit", Zero::allowed);
    rates.cache_write = rate(node, fields, "cache_write", Zero::allowed);
    rates.thinking_output = rate(node, fields, "thinking_output", Zero::allowed);
    return rates;
  }

  Rates token_rates(YAML::Node const& node, YamlFields const& fields) {
    Rates rates;
    rates.input = rate(node, fields, "input_cost_per_token", Zero::refused, kOneDigits);
    rates.output = rate(node, fields, "output_cost_per_token", Zero::refused, kOneDigits);
    rates.cache_hit = rate(node, fields, "cache_hit_cost_per_token", Zero::allowed, kOneDigits);
    return rates;
  }

  std::int64_t rate(YAML::Node const& node, YamlFields const& fields, std::string_view key, Zero zero,
                    int per_tokens = kMillionDigits) {
    auto const* value = fields.find(key);
    if (value == nullptr) {
      if (zero == Zero::refused) problems_.add(node, fmt::format("'{}' is missing", key));
      return 0;
    }
    auto const read = read_rate(*value, per_tokens, problems_);
    if (read && *read == 0 && zero == Zero::refused) {
      problems_.add(
          *value,
          fmt::format("'{}' must be more than 0; for a model that costs nothing write free: true", key));
    }
    return read.value_or(0);
  }

  Window window_of(YAML::Node const& node) {
    YamlFields const fields{
        node,
        {"name", "days", "hours", "except", "per_million_tokens", "tiers", "pricing_tiers",
         "input_cost_per_token", "output_cost_per_token", "cache_hit_cost_per_token"},
        problems_};
    Window window;
    window.name = fields.text("name").value_or("");
    if (window.name.empty()) problems_.add(node, "a window needs a 'name', such as peak");
    window.days = values(fields, "days", parse_weekday, "must be mon, tue, wed, thu, fri, sat or sun");
    window.hours =
        values(fields, "hours", parse_hours,
               "must be times of one day such as 09:00-12:00, and the end must be later than the beginning");
    window.except = values(fields, "except", parse_day, "must be a day such as 2026-10-01");
    if (!fields.has("hours")) problems_.add(node, "'hours' is missing; for the whole day write 00:00-24:00");
    if (!fields.has("days")) problems_.add(node, "'days' is missing");
    window.tiers = tiers_of(node, fields);
    return window;
  }

  template <class Value>
  std::vector<Value> values(YamlFields const& fields, std::string_view key,
                            std::optional<Value> (*parse)(std::string_view), std::string_view expected) {
    std::vector<Value> out;
    for (auto const& node : fields.list(key)) {
      auto const value = node.IsScalar() ? parse(node.Scalar()) : std::nullopt;
      if (value) {
        out.push_back(*value);
      } else {
        problems_.add(node, fmt::format("'{}' {}", key, expected));
      }
    }
    return out;
  }

  // `except` is not considered: it could separate two windows that share an hour of the week only on a few
  // days.
  void check_overlaps(std::vector<YAML::Node> const& nodes, std::vector<Window> const& windows) {
    for (std::size_t later = 0; later < windows.size(); ++later) {
      if (hours_overlap(windows[later].hours)) problems_.add(nodes[later], "'hours' overlap");
      for (std::size_t earlier = 0; earlier < later; ++earlier) {
        if (!overlap(windows[earlier], windows[later])) continue;
        problems_.add(nodes[later], fmt::format("window '{}' overlaps window '{}'", windows[later].name,
                                                windows[earlier].name));
      }
    }
  }

  static bool overlap(Hours const& a, Hours const& b) { return a.from < b.until && b.from < a.until; }

  static bool hours_overlap(std::vector<Hours> const& hours) {
    for (std::size_t later = 0; later < hours.size(); ++later) {
      for (std::size_t earlier = 0; earlier < later; ++earlier) {
        if (overlap(hours[earlier], hours[later])) return true;
      }
    }
    return false;
  }

  static bool overlap(Window const& a, Window const& b) {
    bool const share_day =
        std::find_first_of(a.days.begin(), a.days.end(), b.days.begin(), b.days.end()) != a.days.end();
    return share_day && std::any_of(a.hours.begin(), a.hours.end(), [&](Hours const& mine) {
             return std::any_of(b.hours.begin(), b.hours.end(),
                                [&](Hours const& theirs) { return overlap(mine, theirs); });
           });
  }

  PriceDefaults const& defaults_;
  YamlProblems& problems_;
};

}  // namespace

std::optional<std::int64_t> read_rate(YAML::Node const& node, int per_tokens, YamlProblems& problems) {
  if (!node.IsScalar()) {
    problems.add(node, "must be a decimal number");
    return std::nullopt;
  }
  auto units = parse_units(node.Scalar(), kPicoDecimals - per_tokens);
  auto const* const rate = std::get_if<std::int64_t>(&units);
  if (rate != nullptr && *rate <= kHighestRate) return *rate;
  auto const fault = rate != nullptr ? DecimalFault::too_large : std::get<DecimalFault>(units);
  problems.add(node, fmt::format("the price '{}' {}", node.Scalar(), words_for(fault)));
  return std::nullopt;
}

std::vector<Tier> read_pricing_tiers(YAML::Node const& list, YamlProblems& problems) {
  PriceDefaults const none;
  return Reader{none, problems}.pricing_tiers(list);
}

PriceEntry read_price_entry(YAML::Node const& node, PriceDefaults const& defaults, YamlProblems& problems) {
  return Reader{defaults, problems}.entry(node);
}

std::optional<Zone> read_zone(YAML::Node const& node, YamlProblems& problems) {
  auto const name = node.IsScalar() ? node.Scalar() : std::string{};
  auto zone = name.empty() ? std::nullopt : Zone::find(name);
  if (!zone)
    problems.add(node,
                 fmt::format("'{}' is not a time zone in the IANA database, such as Asia/Shanghai", name));
  return zone;
}

void check_currency(YAML::Node const& node, YamlProblems& problems) {
  if (node.IsScalar() && node.Scalar() == kCurrency) return;
  problems.add(
      node,
      fmt::format("the currency must be {}: threads are billed in it, and nothing is converted", kCurrency));
}

}  // namespace runnel::model

#include "runnel/flow/prompt/placeholders.h"

#include <boost/json/parse.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "runnel/core/json/parse.h"
#include "runnel/core/time/zone.h"
#include "runnel/flow/prompt/ascii_json.h"

namespace runnel::flow {
namespace {

namespace json = boost::json;

constexpr std::array<std::string_view, 7> kWeekdays{"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                    "Thursday", "Friday", "Saturday"};

// The user's time zone, or the default one if the user's is unknown.
std::string zone_name(PromptInput const& input) {
  auto const& name = input.profile.settings.preferences.timezone;
  return Zone::find(name) ? name : Preferences{}.timezone;
}

std::chrono::local_days local_day(PromptInput const& input) {
  return Zone::find(zone_name(input)).value().at(input.now_ms).day;
}

std::string today(PromptInput const& input) {
  std::chrono::year_month_day const day{local_day(input)};
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(day.year()), static_cast<unsigned>(day.month()),
                     static_cast<unsigned>(day.day()));
}

std::string weekday(PromptInput const& input) {
  return std::string{kWeekdays.at(std::chrono::weekday{local_day(input)}.c_encoding())};
}

// Tags and codes appear in a text without quotes, so a value with other characters is replaced by the
// default.
std::string tag_or_default(std::string const& tag, std::string const& otherwise) {
  constexpr std::string_view kOfTags = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-";
  bool const fits = !tag.empty() && tag.find_first_not_of(kOfTags) == std::string::npos;
  return fits ? tag : otherwise;
}

// A language tag without its extensions (en-x-…), because they may spell out the user's own words.
std::string language(std::string const& tag, std::string const& otherwise) {
  std::size_t end = tag.find('-');
  while (end != std::string::npos && tag.find('-', end + 1) != end + 2)
    end = tag.find('-', end + 1);
  return tag_or_default(tag.substr(0, end), otherwise);
}

std::string ai_language(PromptInput const& input) {
  return language(input.profile.settings.preferences.ai_language, Preferences{}.ai_language);
}

std::string interface_language(PromptInput const& input) {
  return language(input.profile.settings.preferences.interface_language, Preferences{}.interface_language);
}

std::string country(PromptInput const& input) {
  return tag_or_default(input.profile.settings.preferences.country, Preferences{}.country);
}

constexpr std::string_view kInput = "input";

std::string input_as_json(PromptInput const& input) {
  std::string out;
  append_ascii_json_string(out, input.user_text);
  return out;
}

struct RunPlaceholder {
  std::string_view name;
  std::string (*value)(PromptInput const&);
};
constexpr std::array<RunPlaceholder, 7> kPlaceholdersOfRuns{{{"today", today},
                                                             {"weekday", weekday},
                                                             {"timezone", zone_name},
                                                             {"ai_language", ai_language},
                                                             {"interface_language", interface_language},
                                                             {"country", country},
                                                             {kInput, input_as_json}}};

RunPlaceholder const* find_run_placeholder(std::string_view name) {
  auto const* const found =
      std::find_if(kPlaceholdersOfRuns.begin(), kPlaceholdersOfRuns.end(),
                   [&](RunPlaceholder const& placeholder) { return placeholder.name == name; });
  return found == kPlaceholdersOfRuns.end() ? nullptr : found;
}

json::object parse_result(std::string_view stage, std::string const& text) {
  json::parse_options options;
  options.max_depth = kDefaultJsonDepth;
  json::error_code error;
  auto value = json::parse(text, error, {}, options);
  if (error || !value.is_object())
    throw std::logic_error{"the result of stage " + std::string{stage} + " is not a JSON object"};
  return std::move(value.get_object());
}

// `name` is "stage" or "stage.field".
std::string result_as_json(Results const& results, std::string_view name) {
  auto const dot = std::min(name.find('.'), name.size());
  auto const stage = name.substr(0, dot);
  auto const found = results.find(stage);
  if (found == results.end()) return "null";
  auto const result = parse_result(stage, found->second);
  std::string out;
  if (dot == name.size()) {
    append_ascii_json(out, result);
  } else {
    auto const* const field = result.if_contains(name.substr(dot + 1));
    append_ascii_json(out, field != nullptr ? *field : json::value{});
  }
  return out;
}

}  // namespace

std::string placeholder_value(PromptInput const& input, std::string_view name) {
  auto const* const of_run = find_run_placeholder(name);
  return of_run != nullptr ? of_run->value(input) : result_as_json(input.results, name);
}

bool is_run_placeholder(std::string_view name) {
  return find_run_placeholder(name) != nullptr;
}

std::string run_placeholders() {
  std::string names;
  for (auto const& placeholder : kPlaceholdersOfRuns)
    names += fmt::format("{}{{{}}}", names.empty() ? "" : " ", placeholder.name);
  return names;
}

bool is_data(std::string_view placeholder) {
  return placeholder == kInput || !is_run_placeholder(placeholder);
}

}  // namespace runnel::flow

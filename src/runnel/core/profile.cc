#include "runnel/core/profile.h"

#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>
#include <variant>

#include "runnel/core/json/parse.h"
#include "runnel/core/json/pointer.h"
#include "runnel/core/json/write.h"
#include "runnel/core/text/text.h"

namespace runnel {
namespace {

namespace json = boost::json;

enum class Manner { strict, tolerant };

// How a text in the preferences is checked, and what the sender of a wrong one is told.
struct NameKind {
  bool (*is_valid)(std::string_view text);
  char const* wanted;
};
constexpr NameKind kLanguage{&is_language_tag, "must be a known BCP 47 language tag such as zh-CN"};
constexpr NameKind kZone{&is_zone_name, "must be a time zone in the IANA database such as Asia/Shanghai"};
constexpr NameKind kCountry{&is_country_code, "must be an ISO 3166-1 country code in upper case such as CN"};

struct PreferenceField {
  std::string_view key;
  std::string Preferences::*field;
  NameKind kind;
};
constexpr std::array kPreferences{
    PreferenceField{"interface_language", &Preferences::interface_language, kLanguage},
    PreferenceField{"ai_language", &Preferences::ai_language, kLanguage},
    PreferenceField{"timezone", &Preferences::timezone, kZone},
    PreferenceField{"country", &Preferences::country, kCountry}};

// The JSON pointer to a member of the object at `parent`.
std::string pointer_to(std::string const& parent, std::string_view key) {
  return parent + "/" + to_pointer_token(key);
}

std::string counted_limit(std::size_t most) {
  return "must have at most " + std::to_string(most) + " characters";
}

// Reads the valid values and reports the others, which keep their defaults. A strict reader also reports
// unknown fields and values that are too large.
class ProfileReader {
 public:
  explicit ProfileReader(Manner manner) : strict_{manner == Manner::strict} {}

  Profile profile(json::value const& value) {
    Profile out;
    auto const* object = object_in(value, "");
    if (object == nullptr) return out;
    look_for_unknown(*object, "", {"username", "bio", "settings"});
    read_words(*object, "username", kLongestUsername, out.username);
    read_words(*object, "bio", kLongestBio, out.bio);
    if (auto const* found = object->if_contains("settings")) out.settings = settings(*found, "/settings");
    return out;
  }

  ProfileSettings settings(json::value const& value, std::string const& path) {
    ProfileSettings out;
    if (value.is_null()) return out;
    auto const* object = object_in(value, path);
    if (object == nullptr) return out;
    look_for_unknown(*object, path, {"version", "preferences", "privacy", "notification", "safety"});
    read_version(*object, path, out.version);
    read_preferences(*object, path, out.preferences);
    read_part(*object, path, "privacy", out.privacy);
    read_part(*object, path, "notification", out.notification);
    read_safety(*object, path, out);
    if (strict_ && to_json(out).size() > kLargestSettings)
      tell(path, "must take at most " + std::to_string(kLargestSettings) + " bytes");
    return out;
  }

  void tell(std::string path, std::string what) {
    if (problems_.size() < kMostProfileProblems) problems_.push_back({std::move(path), std::move(what)});
  }

  std::vector<ProfileProblem> take_problems() { return std::move(problems_); }

 private:
  json::object const* object_in(json::value const& value, std::string const& path) {
    if (!value.is_object()) tell(path, "must be an object");
    return value.if_object();
  }

  void look_for_unknown(json::object const& object, std::string const& path,
                        std::initializer_list<std::string_view> known) {
    if (!strict_) return;
    for (auto const& member : object) {
      std::string_view const key{member.key().data(), member.key().size()};
      if (std::find(known.begin(), known.end(), key) == known.end())
        tell(path + "/" + to_told_token(key), "is not known");
    }
  }

  void read_words(json::object const& object, std::string_view key, std::size_t most, std::string& out) {
    auto const* value = object.if_contains(key);
    if (value == nullptr || value->is_null()) return;
    if (!value->is_string()) return tell(pointer_to("", key), "must be a string");
    std::string_view const text = value->get_string();
    if (strict_ && count_code_points(text) > most) return tell(pointer_to("", key), counted_limit(most));
    out = text;
  }

  void read_version(json::object const& object, std::string const& path, std::int64_t& out) {
    auto const* value = object.if_contains("version");
    if (value == nullptr) return;
    auto const* number = value->if_int64();
    bool const known = number != nullptr && *number >= 1 && *number <= kNewestProfileVersion;
    if (!known) tell(pointer_to(path, "version"), "must be 1 or 2");
    out = known ? *number : kNewestProfileVersion;
  }

  void read_preferences(json::object const& settings, std::string const& parent, Preferences& out) {
    auto const* value = settings.if_contains("preferences");
    if (value == nullptr) return;
    auto const path = pointer_to(parent, "preferences");
    auto const* object = object_in(*value, path);
    if (object == nullptr) return;
    look_for_unknown(*object, path, {"interface_language", "ai_language", "timezone", "country"});
    for (auto const& [key, field, kind] : kPreferences)
      read_name(*object, path, key, kind, out.*field);
  }

  void read_name(json::object const& object, std::string const& path, std::string_view key,
                 NameKind const& kind, std::string& out) {
    auto const* value = object.if_contains(key);
    if (value == nullptr) return;
    if (!value->is_string()) return tell(pointer_to(path, key), "must be a string");
    std::string_view const text = value->get_string();
    if (!kind.is_valid(text)) return tell(pointer_to(path, key), kind.wanted);
    out = text;
  }

  void read_part(json::object const& settings, std::string const& path, std::string_view key,
                 std::string& out) {
    auto const* value = settings.if_contains(key);
    if (value != nullptr && object_in(*value, pointer_to(path, key)) != nullptr)
      out = json::serialize(*value);
  }

  void read_safety(json::object const& object, std::string const& path, ProfileSettings& out) {
    if (out.version >= 2) return read_part(object, path, "safety", out.safety);
    if (strict_ && object.contains("safety"))
      tell(pointer_to(path, "safety"), "is not known before version 2");
  }

  bool strict_;
  std::vector<ProfileProblem> problems_;
};

ProfileReading read_profile(std::string_view text, Manner manner) {
  ProfileReader reader{manner};
  ProfileReading out;
  auto const parsed = parse_json(text);
  if (auto const* problem = std::get_if<JsonProblem>(&parsed)) {
    reader.tell("", to_string(*problem));
  } else {
    out.profile = reader.profile(std::get<json::value>(parsed));
  }
  out.problems = reader.take_problems();
  return out;
}

}  // namespace

ProfileReading read_profile_strictly(std::string_view text) {
  return read_profile(text, Manner::strict);
}

ProfileReading read_stored_profile(std::string_view text) {
  return text.empty() ? ProfileReading{} : read_profile(text, Manner::tolerant);
}

SettingsReading read_stored_settings(std::string_view text) {
  SettingsReading out;
  if (text.empty()) return out;
  ProfileReader reader{Manner::tolerant};
  auto const parsed = parse_json(text);
  if (auto const* problem = std::get_if<JsonProblem>(&parsed)) {
    reader.tell("", to_string(*problem));
  } else {
    out.settings = reader.settings(std::get<json::value>(parsed), "");
  }
  out.problems = reader.take_problems();
  return out;
}

Profile upgrade(Profile profile, bool keep_version) {
  auto& settings = profile.settings;
  if (keep_version || settings.version == kNewestProfileVersion) return profile;
  settings.version = kNewestProfileVersion;
  settings.safety = "{}";
  return profile;
}

std::string to_json(ProfileSettings const& settings) {
  std::string out;
  JsonObject object{out};
  object.number("version", settings.version);
  JsonObject preferences{object.key("preferences")};
  for (auto const& [key, field, kind] : kPreferences)
    preferences.text(key, settings.preferences.*field);
  preferences.close();
  object.raw("privacy", settings.privacy).raw("notification", settings.notification);
  if (settings.version >= 2) object.raw("safety", settings.safety);
  object.close();
  return out;
}

std::string to_json(Profile const& profile) {
  std::string out;
  JsonObject object{out};
  object.text("username", profile.username).text("bio", profile.bio);
  object.raw("settings", to_json(profile.settings)).close();
  return out;
}

}  // namespace runnel

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runnel/core/locale_names.h"

// Who a user says to be, and in which languages, zone and country (FLOW-5).
namespace runnel {

struct Preferences {
  std::string interface_language = "zh-CN";  // BCP 47, as it was sent.
  std::string ai_language = "zh-CN";
  std::string timezone = "Asia/Shanghai";  // IANA.
  std::string country = "CN";              // ISO 3166-1 alpha-2.

  bool operator==(Preferences const&) const = default;
};

inline constexpr std::int64_t kNewestProfileVersion = 2;

// `profiles.settings`. The three parts beside the preferences are kept as they are: JSON objects.
struct ProfileSettings {
  std::int64_t version = 1;
  Preferences preferences;
  std::string privacy = "{}";
  std::string notification = "{}";
  std::string safety = "{}";  // From version 2 on.

  bool operator==(ProfileSettings const&) const = default;
};

// A user's profile: frozen for a run when it is admitted, then it is FLOW-6's UserAgentContext.
struct Profile {
  std::string username;
  std::string bio;
  ProfileSettings settings;

  bool operator==(Profile const&) const = default;
};

// What is wrong with a value of a profile, for its sender: a JSON pointer and the reason.
struct ProfileProblem {
  std::string path;
  std::string what;
};

// How much of a profile is taken. All of it is kept with every run, so it must not be large.
inline constexpr std::size_t kLongestUsername = 256;  // Code points.
inline constexpr std::size_t kLongestBio = 10'000;
inline constexpr std::size_t kLargestSettings = std::size_t{16} * 1024;  // Bytes, as to_json() writes them.

// No more problems of one profile are told.
inline constexpr std::size_t kMostProfileProblems = 20;

struct ProfileReading {
  Profile profile;
  std::vector<ProfileProblem> problems;
};

struct SettingsReading {
  ProfileSettings settings;
  std::vector<ProfileProblem> problems;
};

// A profile as a client sends it, {"username","bio","settings":{…}}: strict; with problems it must not be
// stored. What is left out has its default; so have a username, a bio and settings that are null. `text` is
// a JSON document.
ProfileReading read_profile_strictly(std::string_view text);

// A stored one: whatever is wrong falls back to its default, value by value, and is told as a problem for the
// log, without the value. Settings of an unknown version are read as the newest one's; unknown fields do not
// matter. Empty text: a user without a profile.
ProfileReading read_stored_profile(std::string_view text);

// The same for the settings alone.
SettingsReading read_stored_settings(std::string_view text);

// `profile` of the newest version; `keep_version`: of its own (an upgrade can be deferred).
Profile upgrade(Profile profile, bool keep_version);

// {"username":…,"bio":…,"settings":{…}}, and the settings alone; `safety` from version 2 on.
std::string to_json(Profile const& profile);
std::string to_json(ProfileSettings const& settings);

}  // namespace runnel

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runnel/core/text/locale_names.h"

// Who the user is, and the user's languages, time zone and country (FLOW-5).
namespace runnel {

struct Preferences {
  std::string interface_language = "zh-CN";  // A BCP 47 tag, kept as it was sent.
  std::string ai_language = "zh-CN";
  std::string timezone = "Asia/Shanghai";  // A name in the IANA database.
  std::string country = "CN";              // ISO 3166-1 alpha-2.

  bool operator==(Preferences const&) const = default;
};

inline constexpr std::int64_t kNewestProfileVersion = 2;

// The column `profiles.settings`. The three parts besides the preferences are JSON objects, which are kept
// unchanged.
struct ProfileSettings {
  std::int64_t version = 1;
  Preferences preferences;
  std::string privacy = "{}";
  std::string notification = "{}";
  std::string safety = "{}";  // From version 2 on.

  bool operator==(ProfileSettings const&) const = default;
};

// A user's profile. When a run is admitted, the profile is frozen for it and becomes the UserAgentContext of
// FLOW-6.
struct Profile {
  std::string username;
  std::string bio;
  ProfileSettings settings;

  bool operator==(Profile const&) const = default;
};

// What is wrong with one value of a profile: a JSON pointer and the reason, for the sender.
struct ProfileProblem {
  std::string path;
  std::string what;
};

// The size limits of a profile. The whole profile is kept with every run, so it must not be large.
inline constexpr std::size_t kLongestUsername = 256;  // Code points.
inline constexpr std::size_t kLongestBio = 10'000;
inline constexpr std::size_t kLargestSettings = std::size_t{16} * 1024;  // Bytes, as written by to_json().

// At most this many problems are reported for one profile.
inline constexpr std::size_t kMostProfileProblems = 20;

struct ProfileReading {
  Profile profile;
  std::vector<ProfileProblem> problems;
};

struct SettingsReading {
  ProfileSettings settings;
  std::vector<ProfileProblem> problems;
};

// Reads a profile as a client sends it: {"username","bio","settings":{…}}. This is strict: a profile with
// problems must not be stored. A field that is left out gets its default, and so does a username, bio or
// settings that is null. `text` is a JSON document.
ProfileReading read_profile_strictly(std::string_view text);

// Reads a stored profile. Each wrong value is replaced by its default and reported as a problem for the log,
// without the value. Settings of an unknown version are read as the newest version; unknown fields are
// ignored. An empty text stands for a user without a profile.
ProfileReading read_stored_profile(std::string_view text);

// The same for the settings alone.
SettingsReading read_stored_settings(std::string_view text);

// `profile` upgraded to the newest version. With `keep_version` it stays as it is, because an upgrade can be
// deferred.
Profile upgrade(Profile profile, bool keep_version);

// {"username":…,"bio":…,"settings":{…}}, or the settings alone. `safety` is included from version 2 on.
std::string to_json(Profile const& profile);
std::string to_json(ProfileSettings const& settings);

}  // namespace runnel

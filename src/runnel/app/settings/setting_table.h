#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runnel/app/settings/settings.h"

// The table of all settings: their names, their kinds, and the fields that they fill.
namespace runnel::app::setting {

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
// Several values: a YAML list, or one text with commas between the values.
struct List {
  std::vector<std::string> Settings::*field;
};
// An amount in CNY. Empty or 0 for no limit.
struct Amount {
  std::optional<Money> Settings::*field;
};
struct Level {};
struct Format {};
// A list of maps, which can only be set in the file.
struct Providers {};

struct Key {
  std::string_view name;
  std::variant<WholeNumber, Text, Choice, Switch, List, Amount, Level, Format, Providers> kind;
};

// All settings. The file, the environment and the flags all use this table.
std::vector<Key> const& keys();

// Puts `text` into the setting. Returns what the text should have been if it does not fit.
std::optional<std::string> assign(Settings& settings, Key const& key, std::string const& text);

}  // namespace runnel::app::setting

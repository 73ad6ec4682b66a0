#include "runnel/modules/memory/content.h"

#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <unicode/unistr.h>

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "runnel/core/text/locale_names.h"
#include "runnel/core/text/text.h"
#include "runnel/core/time/instant.h"

namespace runnel::modules::memory {

namespace json = boost::json;

namespace {

using Violations = std::vector<base::Violation>;

json::string const* text_in(json::object const& object, std::string_view name) {
  auto const* const value = object.if_contains(name);
  return value == nullptr ? nullptr : value->if_string();
}

void check_item(json::value const& item, std::string const& path, Violations& found) {
  auto const* const text = item.if_string();
  if (text != nullptr && is_blank(*text)) found.push_back({path, "must not be blank"});
  auto const* const object = item.if_object();
  if (object == nullptr) return;
  auto const* const name = text_in(*object, "name");
  if (name != nullptr && is_blank(*name)) found.push_back({path + "/name", "must not be blank"});
  auto const* const date = text_in(*object, "date");
  if (date != nullptr && !parse_day(*date))
    found.push_back({path + "/date", "must be a date that exists, as YYYY-MM-DD, such as 1990-05-01"});
}

void check_hours(json::object const& hours, std::string const& path, Violations& found) {
  if (hours.contains("start") != hours.contains("end")) {
    auto const* const missing = hours.contains("start") ? "/end" : "/start";
    found.push_back({path + missing, "is required, because start and end belong together"});
  }
  auto const* const zone = text_in(hours, "timezone");
  if (zone != nullptr && !is_blank(*zone) && !is_zone_name(strip(*zone)))
    found.push_back({path + "/timezone", "must be a time zone in the IANA database, such as Europe/Berlin"});
}

bool is_empty(json::value const& value) {
  if (auto const* const text = value.if_string()) return text->empty();
  if (auto const* const list = value.if_array()) return list->empty();
  auto const* const object = value.if_object();
  return object != nullptr && object->empty();
}

std::string folded(std::string_view text) {
  std::string out;
  icu::UnicodeString::fromUTF8({text.data(), static_cast<std::int32_t>(text.size())})
      .foldCase()
      .toUTF8String(out);
  return out;
}

// Items with the same key are the same. Empty if the item has neither a text nor a name.
std::string key_of(json::value const& item) {
  if (auto const* const text = item.if_string()) return folded(*text);
  auto const* const object = item.if_object();
  auto const* const name = object == nullptr ? nullptr : text_in(*object, "name");
  return name == nullptr ? std::string{} : folded(*name);
}

void add_items(json::array& into, json::array const& items) {
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < into.size(); ++i)
    places.emplace(key_of(into[i]), i);
  for (auto const& item : items) {
    auto const [place, is_new] = places.emplace(key_of(item), into.size());
    if (is_new) {
      into.push_back(item);
    } else if (item.is_object()) {
      into[place->second] = item;
    }
  }
}

json::value cleaned(json::value const& value);

json::object cleaned_object(json::object const& object) {
  json::object out;
  for (auto const& [name, value] : object) {
    auto part = cleaned(value);
    if (!is_empty(part)) out[name] = std::move(part);
  }
  return out;
}

json::array cleaned_list(json::array const& list) {
  json::array items;
  for (auto const& item : list)
    items.push_back(cleaned(item));
  json::array out;
  add_items(out, items);
  return out;
}

// Without white space at the ends of texts, empty members of objects, and items that occur twice.
json::value cleaned(json::value const& value) {
  if (auto const* const text = value.if_string()) return json::string{strip(*text)};
  if (auto const* const list = value.if_array()) return cleaned_list(*list);
  if (auto const* const object = value.if_object()) return cleaned_object(*object);
  return value;
}

void set_field(json::object& content, std::string_view name, json::value value) {
  auto* const known = content.if_contains(name);
  if (is_empty(value)) {
    content.erase(name);
  } else if (known != nullptr && known->is_array() && value.is_array()) {
    add_items(known->get_array(), value.get_array());
  } else {
    content[name] = std::move(value);
  }
}

std::string beyond(std::string const& what, std::size_t have, std::size_t most) {
  return "would have " + std::to_string(have) + " " + what + ", and at most " + std::to_string(most) +
         " are allowed; replace it by what still matters";
}

}  // namespace

Violations check_content(json::object const& content) {
  Violations found;
  for (auto const& [name, value] : content) {
    auto const path = "/" + std::string{name};
    if (auto const* const list = value.if_array()) {
      for (std::size_t i = 0; i < list->size(); ++i)
        check_item((*list)[i], path + "/" + std::to_string(i), found);
    }
    auto const* const object = value.if_object();
    if (object != nullptr && name == "working_hours") check_hours(*object, path, found);
  }
  return found;
}

Updated update(json::object stored, json::object const& sent, Mode mode) {
  if (mode == Mode::replace) stored.clear();
  for (auto const& [name, value] : sent)
    set_field(stored, name, cleaned(value));
  for (auto const& [name, value] : stored) {
    auto const* const list = value.if_array();
    if (list != nullptr && list->size() > kMostItems)
      return base::Violation{"/" + std::string{name}, beyond("items", list->size(), kMostItems)};
  }
  auto const bytes = json::serialize(stored).size();
  if (bytes > kMostContentBytes)
    return base::Violation{"", "the whole content " + beyond("bytes as JSON", bytes, kMostContentBytes)};
  return stored;
}

}  // namespace runnel::modules::memory

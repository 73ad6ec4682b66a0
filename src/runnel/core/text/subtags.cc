#include "runnel/core/text/subtags.h"

#include <unicode/uchar.h>
#include <unicode/ures.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace runnel {
namespace {

using Subtags = std::vector<std::string>;  // Sorted.

void to_lower_case(std::string& text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
}

// `item` is one subtag or a range of subtags: "aac~g" stands for aac to aag.
void add_item(Subtags& out, std::string item) {
  to_lower_case(item);
  char const last = item.back();
  item.resize(std::min(item.find('~'), item.size()));
  for (; item.back() <= last; ++item.back())
    out.push_back(item);
}

std::string item_at(UResourceBundle const* list, std::int32_t index, UErrorCode& status) {
  char buffer[64];
  auto length = static_cast<std::int32_t>(sizeof buffer);
  auto const* text = ures_getUTF8StringByIndex(list, index, buffer, &length, false, &status);
  return U_SUCCESS(status) ? std::string(text, static_cast<std::size_t>(length)) : std::string{};
}

// All subtags of one kind that CLDR lists, whatever their status: regular, special, deprecated, private use
// and so on. Empty if ICU has no such data.
Subtags load_subtags(char const* kind) {
  UErrorCode status = U_ZERO_ERROR;
  icu::LocalUResourceBundlePointer const data{ures_openDirect(nullptr, "supplementalData", &status)};
  icu::LocalUResourceBundlePointer const kinds{
      ures_getByKey(data.getAlias(), "idValidity", nullptr, &status)};
  icu::LocalUResourceBundlePointer const lists{ures_getByKey(kinds.getAlias(), kind, nullptr, &status)};
  Subtags out;
  for (std::int32_t i = 0; U_SUCCESS(status) && i < ures_getSize(lists.getAlias()); ++i) {
    icu::LocalUResourceBundlePointer const list{ures_getByIndex(lists.getAlias(), i, nullptr, &status)};
    for (std::int32_t k = 0; U_SUCCESS(status) && k < ures_getSize(list.getAlias()); ++k) {
      auto item = item_at(list.getAlias(), k, status);
      if (!item.empty()) add_item(out, std::move(item));
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

bool has_subtag(Subtags const& subtags, std::string_view subtag) {
  return std::binary_search(subtags.begin(), subtags.end(), subtag, std::less<>{});
}

// CLDR leaves out scripts that Unicode does not encode separately, such as Latf, the Fraktur form of Latn.
// The name is compared because ICU also finds scripts by their long names.
bool is_script_of_unicode(std::string_view subtag) {
  auto const code = u_getPropertyValueEnum(UCHAR_SCRIPT, std::string{subtag}.c_str());
  if (code == UCHAR_INVALID_CODE) return false;
  auto const* const name = u_getPropertyValueName(UCHAR_SCRIPT, code, U_SHORT_PROPERTY_NAME);
  if (name == nullptr) return false;
  std::string lower{name};
  to_lower_case(lower);
  return lower == subtag;
}

}  // namespace

bool is_registered(SubtagKind kind, std::string_view subtag) {
  static Subtags const languages = load_subtags("language");
  static Subtags const scripts = load_subtags("script");
  static Subtags const regions = load_subtags("region");
  static Subtags const variants = load_subtags("variant");
  switch (kind) {
    case SubtagKind::language:
      return has_subtag(languages, subtag);
    case SubtagKind::script:
      return has_subtag(scripts, subtag) || is_script_of_unicode(subtag);
    case SubtagKind::region:
      return has_subtag(regions, subtag);
    case SubtagKind::variant:
      return has_subtag(variants, subtag);
  }
  return false;
}

}  // namespace runnel

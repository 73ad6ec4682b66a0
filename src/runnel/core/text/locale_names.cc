#include "runnel/core/text/locale_names.h"

#include <unicode/ucal.h>
#include <unicode/unistr.h>
#include <unicode/uregion.h>

#include <algorithm>
#include <array>
#include <string>

#include "runnel/core/time/zone.h"

namespace runnel {
namespace {

// Names among a machine's zone files that are not zones: the machine's own setting, and placeholders.
constexpr std::array<std::string_view, 3> kBesideTheZones{"Factory", "localtime", "posixrules"};

// Country numbers from this one on are for private use.
constexpr int kFirstPrivateNumber = 900;

bool is_upper_case(char c) {
  return c >= 'A' && c <= 'Z';
}

}  // namespace

bool is_zone_name(std::string_view text) {
  if (std::find(kBesideTheZones.begin(), kBesideTheZones.end(), text) != kBesideTheZones.end()) return false;
  return Zone::find(std::string{text}).has_value();
}

std::string zone_of_windows_name(std::string_view text) {
  static constexpr std::size_t kLongestName = 100;
  if (text.size() > kLongestName) return {};
  auto const name = icu::UnicodeString::fromUTF8({text.data(), static_cast<int32_t>(text.size())});
  std::array<UChar, kLongestName> id{};
  UErrorCode status = U_ZERO_ERROR;
  auto const length = ucal_getTimeZoneIDForWindowsID(name.getBuffer(), name.length(), nullptr, id.data(),
                                                     static_cast<int32_t>(id.size()), &status);
  if (U_FAILURE(status) || length <= 0 || length > static_cast<int32_t>(id.size())) return {};
  std::string out;
  icu::UnicodeString{id.data(), length}.toUTF8String(out);
  return is_zone_name(out) ? out : std::string{};
}

// ICU knows more codes than ISO has assigned. It replaces a withdrawn code by its successor (BU by MM) or
// marks it (AN), and it has codes without a United Nations number (AC) or with a private one (XK).
bool is_country_code(std::string_view text) {
  if (text.size() != 2 || !std::all_of(text.begin(), text.end(), &is_upper_case)) return false;
  UErrorCode status = U_ZERO_ERROR;
  auto const* region = uregion_getRegionFromCode(std::string{text}.c_str(), &status);
  if (U_FAILURE(status) || region == nullptr || uregion_getRegionCode(region) != text) return false;
  auto const number = uregion_getNumericCode(region);
  return uregion_getType(region) == URGN_TERRITORY && number > 0 && number < kFirstPrivateNumber;
}

}  // namespace runnel

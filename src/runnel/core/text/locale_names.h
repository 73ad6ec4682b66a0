#pragma once

#include <string>
#include <string_view>

// Checks the names of languages, time zones and countries against their registries. Any thread may call.
namespace runnel {

// Whether `text` is a BCP 47 tag that is valid according to RFC 5646, in upper or lower case. Its language,
// script, region and variants must be registered as far as ICU's data shows; withdrawn subtags and the ranges
// for private use count as registered. Its extensions must be registered (`u`, `t`), but their contents need
// only be well-formed. A tag for private use only ("x-…") names no language and is refused, and so is a tag
// of more than 100 characters.
bool is_language_tag(std::string_view text);

// Whether `text` is a zone or a link in the IANA database, in the same spelling, that this machine can read.
bool is_zone_name(std::string_view text);

// The name in the IANA database of a time zone that Windows calls so, such as Europe/Berlin for
// "W. Europe Standard Time". Empty if Windows has no such zone or this machine cannot read it.
std::string zone_of_windows_name(std::string_view text);

// Whether `text` is an ISO 3166-1 alpha-2 code in upper case that is officially assigned.
bool is_country_code(std::string_view text);

}  // namespace runnel

#pragma once

#include <string_view>

// Names of languages, zones and countries, as their registries have them. Any thread may ask.
namespace runnel {

// A BCP 47 tag that is valid in RFC 5646's sense, in any case: its language, script, region and variants are
// registered as far as ICU's data goes, withdrawn ones and the ranges for private use among them; its
// extensions are registered ones (`u`, `t`), whose insides need only be well-formed. A tag that is nothing
// but private use ("x-…") names no language: it is refused. So is one of more than 100 characters.
bool is_language_tag(std::string_view text);

// A zone or a link of the IANA database, spelt as it is there, which this machine can read.
bool is_zone_name(std::string_view text);

// ISO 3166-1 alpha-2 in upper case, officially assigned today.
bool is_country_code(std::string_view text);

}  // namespace runnel

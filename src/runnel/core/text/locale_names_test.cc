#include "runnel/core/text/locale_names.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <string>

namespace runnel {
namespace {

using namespace std::string_view_literals;

struct NameCase {
  std::string_view text;
  bool good;
};

constexpr NameCase kLanguageTable[] = {
    // Languages, with scripts, regions and variants.
    {"zh-CN", true},
    {"en", true},
    {"en-US", true},
    {"zh-Hans-CN", true},
    {"zh-Hant-TW", true},
    {"sr-Latn-RS", true},
    {"es-419", true},
    {"en-001", true},
    {"de-CH-1996", true},
    {"de-1901", true},
    {"sl-rozaj-biske", true},
    {"sl-rozaj-biske-1994", true},
    {"sl-IT-nedis", true},
    {"ca-valencia", true},
    {"hy-Latn-IT-arevela", true},
    {"yue", true},
    {"yue-Hant-HK", true},
    {"haw", true},
    {"aag", true},  // The last of a range in ICU's data.
    {"de-Latf-DE", true},
    {"ja-Jpan", true},
    {"zxx", true},
    {"mul", true},
    {"und", true},
    {"und-Latn", true},
    // Languages that are registered under another language.
    {"zh-cmn-Hans-CN", true},
    {"zh-yue-HK", true},
    {"sgn-ase", true},
    {"en-cmn", false},
    {"zh-xxx", false},
    {"zh-cmn-yue", false},
    // Withdrawn subtags are still registered.
    {"iw", true},
    {"he", true},
    {"in-ID", true},
    {"sh", true},
    {"my-BU", true},
    {"sr-CS", true},
    // Any case.
    {"ZH-hans-cn", true},
    {"EN-us", true},
    {"I-KLINGON", true},
    // Tags that are older than the grammar.
    {"i-klingon", true},
    {"i-default", true},
    {"art-lojban", true},
    {"en-GB-oed", true},
    {"sgn-BE-FR", true},
    {"zh-min-nan", true},
    {"i-nothing", false},
    {"art-nothing", false},
    // Private use.
    {"qaa", true},
    {"qtz-Qaaa-QM", true},
    {"en-ZZ", true},
    {"en-XA", true},
    {"en-US-x-private", true},
    {"zh-x-a-1-b", true},
    {"x-whatever", false},  // It names no language.
    {"qua-x", false},
    {"en-x", false},
    {"en-x-muchtoolong", false},
    // Extensions.
    {"de-DE-u-co-phonebk", true},
    {"ar-EG-u-ca-islamic-nu-latn", true},
    {"und-Cyrl-t-und-latn-m0-ungegn-2007", true},
    {"en-u-ca-buddhist-x-a", true},
    {"en-a-bbb-x-a-ccc", false},  // No extension `a` is registered.
    {"en-u", false},
    {"en-u-x-a", false},
    {"en-u-co-phonebk-u-nu-latn", false},
    {"u-co-phonebk", false},
    // Unknown subtags.
    {"xx", false},
    {"xx-ZZ", false},
    {"zz-CN", false},
    {"en-XXXX", false},
    {"zh-Miao", false},  // A script's name, not its code.
    {"en-UK", false},
    {"en-156", false},
    {"en-nothing", false},
    {"de-1997", false},
    {"english", false},
    {"root", false},
    {"posix", false},
    // Texts that are not tags.
    {"", false},
    {"C", false},
    {"POSIX", false},
    {"en_US", false},
    {"en_US.UTF-8", false},
    {"en-US.UTF-8", false},
    {"e", false},
    {"12", false},
    {"-en", false},
    {"en-", false},
    {"en--US", false},
    {"en US", false},
    {" en", false},
    {"en\n", false},
    {"en-US-CN", false},
    {"en-Latn-Cyrl", false},
    {"en-US-Latn", false},
    {"de-1996-1996", false},
    {"*", false},
    {"中文", false},
    {"zh-中国", false},
    {"еn", false},  // A Cyrillic letter.
    {"en\0"sv, false},
    {"en\0-US"sv, false},
    {"\xff\xfe"sv, false},
    {"null", false},
    {"en\"}", false},
};

constexpr NameCase kZoneTable[] = {
    {"Asia/Shanghai", true},
    {"Europe/Berlin", true},
    {"America/Argentina/Buenos_Aires", true},
    {"America/Port-au-Prince", true},
    {"UTC", true},
    {"Etc/UTC", true},
    {"Etc/GMT+8", true},
    {"GMT", true},
    {"EST5EDT", true},
    {"PRC", true},  // Links.
    {"Asia/Chongqing", true},
    {"Asia/Calcutta", true},
    {"US/Pacific", true},
    {"", false},
    {"asia/shanghai", false},
    {"ASIA/SHANGHAI", false},
    {"utc", false},
    {"Asia", false},
    {"Asia/", false},
    {"/Asia/Shanghai", false},
    {"Asia//Shanghai", false},
    {"Asia/Shanghai ", false},
    {" Asia/Shanghai", false},
    {"Asia/Shanghai\0"sv, false},
    {"Asia/Nowhere", false},
    {"Beijing", false},
    {"GMT+8", false},
    {"UTC+8", false},
    {"+08:00", false},
    {"CST", false},
    {"EST5", false},
    {"Factory", false},
    {"localtime", false},
    {"posixrules", false},
    {"posix", false},
    {"posix/Asia/Shanghai", false},
    {"right/Asia/Shanghai", false},
    {"./UTC", false},
    {"../zoneinfo/UTC", false},
    {"Asia/../UTC", false},
    {"/etc/passwd", false},
    {"../../../etc/passwd", false},
    {"/etc/localtime", false},
    {"tzdata.zi", false},
    {"zone.tab", false},
    {"zone1970.tab", false},
    {"iso3166.tab", false},
    {"leapseconds", false},
    {"leap-seconds.list", false},
    {"亚洲/上海", false},
};

constexpr NameCase kCountryTable[] = {
    {"CN", true},        {"TW", true},   {"HK", true},   {"MO", true},     {"US", true},      {"GB", true},
    {"DE", true},        {"AX", true},   {"BQ", true},   {"SS", true},     {"AQ", true},      {"UM", true},
    {"cn", false},       {"Cn", false},  {"UK", false},  {"EU", false},    {"XX", false},     {"ZZ", false},
    {"AN", false},       {"BU", false},  {"CS", false},  {"DD", false},    {"SU", false},     {"YU", false},
    {"ZR", false},       {"TP", false},  {"FX", false},  {"XK", false},    {"AC", false},     {"TA", false},
    {"IC", false},       {"EA", false},  {"DG", false},  {"CP", false},    {"QO", false},     {"EZ", false},
    {"UN", false},       {"AA", false},  {"XA", false},  {"CHN", false},   {"156", false},    {"", false},
    {"C", false},        {" CN", false}, {"CN ", false}, {"C\0"sv, false}, {"CN\0"sv, false}, {"中国", false},
    {"\xc3\x9c", false},
};

// Returns how many different texts the table has, so that a repeated one is noticed.
template <std::size_t size>
std::size_t check_table(NameCase const (&table)[size], bool (*is_good)(std::string_view)) {
  std::set<std::string_view> texts;
  for (auto const& [text, good] : table) {
    EXPECT_EQ(is_good(text), good) << '"' << text << '"';
    texts.insert(text);
  }
  return texts.size();
}

TEST(LocaleNames, FLOW_5_LanguagesZonesAndCountriesByTable) {
  auto const languages = check_table(kLanguageTable, &is_language_tag);
  auto const zones = check_table(kZoneTable, &is_zone_name);
  auto const countries = check_table(kCountryTable, &is_country_code);

  EXPECT_EQ(languages, std::size(kLanguageTable)) << "no text occurs twice";
  EXPECT_GE(languages, 80U);
  EXPECT_EQ(zones, std::size(kZoneTable));
  EXPECT_EQ(countries, std::size(kCountryTable));
}

TEST(LocaleNames, FLOW_5_LongTagsAreRefusedAtOnce) {
  std::string tag = "en-x";
  while (tag.size() < 98)
    tag += "-a";
  EXPECT_EQ(tag.size(), 98U);
  EXPECT_TRUE(is_language_tag(tag));
  EXPECT_TRUE(is_language_tag(tag + "-a"));
  EXPECT_FALSE(is_language_tag(tag + "-aa"));
  EXPECT_FALSE(is_language_tag(std::string(1000, 'a')));
  EXPECT_FALSE(is_language_tag("en" + std::string(1000, '-')));
  while (tag.size() < 1000)
    tag += "-abcdefgh";
  EXPECT_FALSE(is_language_tag(tag));
  EXPECT_FALSE(is_zone_name(std::string(100'000, 'A')));
  EXPECT_FALSE(is_country_code(std::string(100'000, 'A')));
}

// The time zone database includes a list of ISO's countries, with which ICU's answers are compared.
TEST(LocaleNames, FLOW_5_CountriesAreThoseThatISOHasAssigned) {
  std::set<std::string> listed;
  std::ifstream file{"/usr/share/zoneinfo/iso3166.tab"};
  for (std::string line; std::getline(file, line);)
    if (!line.starts_with('#')) listed.insert(line.substr(0, 2));
  if (listed.empty()) GTEST_SKIP() << "this machine has no list of countries";

  std::set<std::string> known;
  for (char first = 'A'; first <= 'Z'; ++first)
    for (char second = 'A'; second <= 'Z'; ++second)
      if (std::string const code{first, second}; is_country_code(code)) known.insert(code);

  EXPECT_EQ(known, listed);
  EXPECT_EQ(known.size(), 249U);
}

TEST(LocaleNames, FLOW_5_EveryZoneThatAMapNamesIsTaken) {
  std::ifstream file{"/usr/share/zoneinfo/zone.tab"};
  std::size_t count = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    auto const begin = line.find('\t', line.find('\t') + 1) + 1;
    auto const name = line.substr(begin, line.find('\t', begin) - begin);
    EXPECT_TRUE(is_zone_name(name)) << name;
    ++count;
  }
  if (count == 0) GTEST_SKIP() << "this machine has no list of zones";
  EXPECT_GT(count, 300U);
}

TEST(LocaleNames, TOOL_12_WindowsNamesStandForZones) {
  EXPECT_EQ(zone_of_windows_name("W. Europe Standard Time"), "Europe/Berlin");
  EXPECT_EQ(zone_of_windows_name("China Standard Time"), "Asia/Shanghai");
  EXPECT_EQ(zone_of_windows_name("UTC"), "Etc/UTC");
  for (auto const* const other : {"", "Europe/Berlin", "Mars Standard Time"})
    EXPECT_EQ(zone_of_windows_name(other), "") << other;
  EXPECT_EQ(zone_of_windows_name(std::string(10'000, 'x')), "");
}

}  // namespace
}  // namespace runnel

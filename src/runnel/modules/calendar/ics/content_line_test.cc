#include "runnel/modules/calendar/ics/content_line.h"

#include <gtest/gtest.h>

namespace runnel::modules::calendar {
namespace {

using Lines = std::vector<std::string>;

Lines lines_of(std::string_view file) {
  Lines out;
  LineReader reader{file};
  while (reader.next())
    out.push_back(std::to_string(reader.number()) + " " + reader.text() + (reader.is_cut() ? " cut" : ""));
  return out;
}

TEST(ContentLine, TOOL_12_HasANameParametersAndAValue) {
  auto const line = parse_content_line(
      R"(dtstart;VALUE=DATE-TIME;X="a;b:c";tzid="Europe/Berlin";TZID=UTC:20260501T090000)");

  ASSERT_TRUE(line);
  EXPECT_EQ(line->name, "DTSTART");
  EXPECT_EQ(line->tzid, "Europe/Berlin");
  EXPECT_EQ(line->related, "");
  EXPECT_EQ(line->value, "20260501T090000");
  EXPECT_EQ(parse_content_line("TRIGGER;RELATED=END:-PT1M")->related, "END");
}

TEST(ContentLine, TOOL_12_OtherTextIsNoLine) {
  for (auto const* const text :
       {"", "SUMMARY", ":x", "SUMMARY;:x", "SUMMARY;A:x", "SUMMARY;A=\"x:y", "SUM MARY:x", " A:x"})
    EXPECT_FALSE(parse_content_line(text)) << text;
}

TEST(ContentLine, TOOL_12_BackslashesStandForCharacters) {
  EXPECT_EQ(unescape(R"(a\, b\; c\\n\nd\Ne)"), "a, b; c\\n\nd\ne");
  EXPECT_EQ(unescape(R"(\x \)"), R"(\x \)");
}

TEST(LineReader, TOOL_12_FoldedLinesAreJoined) {
  EXPECT_EQ(lines_of("A:1\r\n 2\r\n\t3\r\nB:\n\n\n C\nD:4"), (Lines{"1 A:123", "4 B:", "6 C", "8 D:4"}));
  EXPECT_EQ(lines_of("\xEF\xBB\xBF"
                     "A:1\n"),
            Lines{"1 A:1"});
  EXPECT_EQ(lines_of("A:\xE6\x99\r\n \xA8\r\n"), Lines{"1 A:晨"});
  EXPECT_EQ(lines_of(""), Lines{});
}

TEST(LineReader, TOOL_12_LongLineIsCut) {
  std::string const file = "A:" + std::string(1'000'000, 'x') + "\r\nB:1";

  LineReader reader{file};
  ASSERT_TRUE(reader.next());

  EXPECT_TRUE(reader.is_cut());
  EXPECT_EQ(reader.text().size(), LineReader::kLongest);
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.text(), "B:1");
  EXPECT_FALSE(reader.is_cut());
}

}  // namespace
}  // namespace runnel::modules::calendar

#include "runnel/net/sse_parser.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace runnel::net {
namespace {

using Events = std::vector<std::string>;

void drain(SseParser& parser, Events& out) {
  for (std::string_view data; parser.next(data);)
    out.emplace_back(data);
}

// All events of a stream that arrives in these pieces.
Events events_of(std::vector<std::string_view> const& pieces) {
  SseParser parser;
  Events out;
  for (auto const piece : pieces) {
    EXPECT_TRUE(parser.feed(piece));
    drain(parser, out);
  }
  EXPECT_TRUE(parser.finish());
  drain(parser, out);
  return out;
}

struct Sample {
  char const* what;
  std::string_view stream;
  Events events;
};

std::vector<Sample> const& samples() {
  static std::vector<Sample> const all = {
      {"LF", "data: one\n\ndata: two\n\n", {"one", "two"}},
      {"CR LF", "data: one\r\n\r\ndata: two\r\n\r\n", {"one", "two"}},
      {"CR", "data: one\r\rdata: two\r\r", {"one", "two"}},
      {"line ends mixed",
       "data: one\r\n\ndata: two\n\r\ndata: three\r\n\rdata: four\n\r",
       {"one", "two", "three", "four"}},
      {"LF after CR is one line end", "data: a\r\ndata: b\r\n\r\n", {"a\nb"}},
      {"several data lines", "data: a\ndata:b\ndata:  c\n\n", {"a\nb\n c"}},
      {"data lines around other fields", "data: a\nid: 7\n: note\nevent: x\ndata: b\nretry: 5\n\n", {"a\nb"}},
      {"comments", ": keep-alive\n\n:\n\ndata: x\n\n: again\n\n", {"x"}},
      {"no space after the colon", "data:x\n\ndata: :\n\n", {"x", ":"}},
      {"empty data", "data:\n\ndata: \n\ndata\n\n", {"", "", ""}},
      {"empty data lines join", "data\ndata\n\ndata:\ndata: x\ndata\n\n", {"\n", "\nx\n"}},
      {"names that only begin with data", "database: x\ndata-x: y\ndat: z\n data: a\n\n", {}},
      {"blank lines", "\n\n\r\n\r\r\ndata: x\n\n\n\n\n", {"x"}},
      {"byte order mark",
       "\xEF\xBB\xBF"
       "data: x\n\n",
       {"x"}},
      {"byte order mark alone", "\xEF\xBB\xBF", {}},
      {"byte order mark later is data",
       "data: \xEF\xBB\xBF\n\n\xEF\xBB\xBF"
       "data: x\n\n",
       {"\xEF\xBB\xBF"}},
      {"no blank line at the end", "data: x\n\ndata: y\n", {"x", "y"}},
      {"no line end at the end", "data: x\n\ndata: y", {"x", "y"}},
      {"CR at the end", "data: x\r\n\r\ndata: y\r", {"x", "y"}},
      {"ends in another field", "data: x\nid: 3", {"x"}},
      {"nothing", "", {}},
      {"NUL and other bytes", std::string_view{"data: a\0b\xFF\n\n", 12}, {std::string{"a\0b\xFF", 4}}},
      {"done mark", "data: {\"a\":1}\n\ndata: [DONE]\n\n", {"{\"a\":1}", "[DONE]"}},
  };
  return all;
}

TEST(SseParser, WholeStream) {
  for (auto const& sample : samples())
    EXPECT_EQ(events_of({sample.stream}), sample.events) << sample.what;
}

TEST(SseParser, ByteByByte) {
  for (auto const& sample : samples()) {
    std::vector<std::string_view> pieces;
    for (std::size_t i = 0; i < sample.stream.size(); ++i)
      pieces.push_back(sample.stream.substr(i, 1));

    EXPECT_EQ(events_of(pieces), sample.events) << sample.what;
  }
}

TEST(SseParser, CutAtEveryTwoPlaces) {
  for (auto const& sample : samples()) {
    auto const stream = sample.stream;
    for (std::size_t i = 0; i <= stream.size(); ++i) {
      for (std::size_t k = i; k <= stream.size(); ++k) {
        ASSERT_EQ(events_of({stream.substr(0, i), stream.substr(i, k - i), stream.substr(k)}), sample.events)
            << sample.what << " cut at " << i << " and " << k;
      }
    }
  }
}

TEST(SseParser, CutAtRandomPlaces) {
  std::string stream;
  Events expected;
  std::mt19937 random{7};
  char const* const ends[] = {"\n", "\r\n", "\r"};
  for (int i = 0; i < 300; ++i) {
    auto const* const end = ends[i % 3];
    std::string event;
    for (unsigned line = 0; line <= random() % 3; ++line) {
      auto const text = std::string(random() % 400, static_cast<char>('a' + i % 26));
      if (random() % 4 == 0) stream += std::string{": note "} + end;
      stream += "data: " + text + end;
      event += (line == 0 ? "" : "\n") + text;
    }
    stream += end;
    expected.push_back(event);
  }

  for (int round = 0; round < 200; ++round) {
    std::vector<std::string_view> pieces;
    for (std::string_view rest = stream; !rest.empty();) {
      auto const size = std::min<std::size_t>(1 + random() % (round % 2 == 0 ? 20 : 3000), rest.size());
      pieces.push_back(rest.substr(0, size));
      rest.remove_prefix(size);
    }
    ASSERT_EQ(events_of(pieces), expected);
  }
}

TEST(SseParser, EventIsThereAsSoonAsItsBlankLineIs) {
  SseParser parser;
  std::string_view data;

  EXPECT_TRUE(parser.feed("data: x\r\n"));
  EXPECT_FALSE(parser.next(data));
  EXPECT_TRUE(parser.feed("\r"));

  ASSERT_TRUE(parser.next(data));
  EXPECT_EQ(data, "x");
  EXPECT_FALSE(parser.next(data));
}

TEST(SseParser, WhatWasNotAskedForStays) {
  SseParser parser;
  std::string_view data;

  EXPECT_TRUE(parser.feed("data: one\n\ndata: two\n\nda"));
  ASSERT_TRUE(parser.next(data));
  EXPECT_TRUE(parser.feed("ta: three\n\n"));

  Events rest;
  drain(parser, rest);
  EXPECT_EQ(rest, (Events{"two", "three"}));
}

TEST(SseParser, LineWithoutEndIsRefusedAtItsLimit) {
  SseParser parser{1000};
  Events events;
  ASSERT_TRUE(parser.feed("data: before\n\n"));
  std::size_t fed = 0;

  while (fed < 5000 && parser.feed("xxxxxxxxxx"))
    fed += 10;

  EXPECT_EQ(fed, 1000U);
  drain(parser, events);
  EXPECT_FALSE(parser.feed("\n\ndata: after\n\n"));
  EXPECT_FALSE(parser.finish());
  drain(parser, events);
  EXPECT_EQ(events, Events{"before"});
}

TEST(SseParser, LongLineInOnePieceIsRefused) {
  SseParser parser{1000};
  Events events;

  EXPECT_FALSE(parser.feed("data: x\n\ndata: " + std::string(2000, 'y') + "\n\ndata: z\n\n"));

  drain(parser, events);
  EXPECT_EQ(events, Events{"x"});
}

TEST(SseParser, ManyDataLinesAreRefusedAtTheLimit) {
  SseParser parser{1000};
  int lines = 0;

  while (lines < 1000 && parser.feed("data: 12345678\n"))
    ++lines;
  EXPECT_FALSE(parser.finish());

  EXPECT_EQ(lines, 1000 / 9);  // Eight bytes, and the LF that joins the lines.
  std::string_view data;
  EXPECT_FALSE(parser.next(data));
}

TEST(SseParser, EventThatIsTooLongWithItsLastLineIsRefusedAtTheEnd) {
  SseParser parser{14};
  EXPECT_TRUE(parser.feed("data: 12345678\ndata: 12345678"));

  EXPECT_FALSE(parser.finish());

  std::string_view data;
  EXPECT_FALSE(parser.next(data));
}

// This would take minutes if each piece made the parser look at or move earlier bytes again.
TEST(SseParser, LongEventInSmallPiecesTakesLinearTime) {
  constexpr std::size_t kSize = std::size_t{4} << 20;
  SseParser parser{kSize};
  Events events;

  parser.feed("data: ");
  for (std::size_t i = 6; i < kSize; ++i)
    ASSERT_TRUE(parser.feed("x"));
  parser.feed("\n");
  for (int i = 0; i < 1'000'000; ++i)
    ASSERT_TRUE(parser.feed(":\r"));
  parser.feed("\n\n");

  drain(parser, events);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events.front().size(), kSize - 6);
}

}  // namespace
}  // namespace runnel::net

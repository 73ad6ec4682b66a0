#include "runnel/http/routes/tasks/task_events.h"

#include <gtest/gtest.h>

#include <string>

namespace runnel::http {
namespace {

// Elements that are their numbers, "7,\n" and so on, each filled up to `size` bytes.
stream::SharedFrames elements(std::int64_t first, std::int64_t count, std::size_t size = 0) {
  stream::Frames frames;
  for (auto idx = first; idx < first + count; ++idx) {
    auto text = std::to_string(idx);
    text.insert(0, text.size() < size ? size - text.size() : 0, ' ');
    frames.bytes += text + ",\n";
    frames.ends.push_back(static_cast<std::uint32_t>(frames.bytes.size()));
  }
  return stream::share(std::move(frames));
}

TEST(TaskEvents, TASK_2_EveryOffsetGivesTheRest) {
  TaskEvents events{3};
  events.add(elements(3, 2));
  events.add(elements(5, 3));

  EXPECT_EQ(events.elements(0), "3,\n4,\n5,\n6,\n7");
  EXPECT_EQ(events.elements(4), "4,\n5,\n6,\n7");
  EXPECT_EQ(events.elements(5), "5,\n6,\n7");
  EXPECT_EQ(events.elements(7), "7");
  EXPECT_EQ(events.elements(8), "");
  EXPECT_EQ(events.elements(100), "");
  EXPECT_EQ(events.first_idx(), 3);
  EXPECT_EQ(events.next_idx(), 8);
  EXPECT_FALSE(events.is_cut());
}

TEST(TaskEvents, TASK_2_NothingGivesNothing) {
  TaskEvents events{9};
  events.add(nullptr);
  events.add(stream::share({}));

  EXPECT_EQ(events.elements(0), "");
  EXPECT_EQ(events.next_idx(), 9);
  EXPECT_TRUE(events.is_empty());
  EXPECT_EQ(events.bytes_from(0), 0U);
}

TEST(TaskEvents, TASK_4_TheNewestThousandAreKept) {
  TaskEvents events{0};
  for (int i = 0; i < 40; ++i)
    events.add(elements(i * 70, 70));

  EXPECT_EQ(events.next_idx(), 2800);
  EXPECT_EQ(events.first_idx(), 1800);
  EXPECT_TRUE(events.elements(0).starts_with("1800,\n1801,"));
  EXPECT_FALSE(events.is_cut()) << "not because of their size";
}

TEST(TaskEvents, TASK_4_LargeEventsAreKeptUpToTheirBytes) {
  TaskEvents events{0};
  for (int i = 0; i < 10; ++i)
    events.add(elements(i, 1, kKeptEventBytes / 4));

  EXPECT_TRUE(events.is_cut());
  EXPECT_EQ(events.first_idx(), 7);
  EXPECT_EQ(events.next_idx(), 10);
  EXPECT_LE(events.bytes_from(0), kKeptEventBytes);

  events.add(elements(10, 1, 2 * kKeptEventBytes));
  EXPECT_EQ(events.first_idx(), 10) << "the newest is kept, however large it is";
}

}  // namespace
}  // namespace runnel::http

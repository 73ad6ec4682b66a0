#include "runnel/base/log/log_queue.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace runnel::base {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

std::string report(std::int64_t dropped) {
  return "dropped " + std::to_string(dropped) + "\n";
}

// The sum of the numbers in all reports.
std::int64_t told_in(std::string const& text) {
  std::int64_t told = 0;
  for (auto at = text.find("dropped "); at != std::string::npos; at = text.find("dropped ", at + 1)) {
    if (text.find('\n', at) != std::string::npos) told += std::stoll(text.substr(at + 8));
  }
  return told;
}

// A pipe that accepts nothing until someone reads from it.
class FullPipe {
 public:
  FullPipe() {
    EXPECT_EQ(::pipe2(ends_.data(), O_CLOEXEC), 0);
    ::fcntl(writes(), F_SETPIPE_SZ, 4096);
    ::fcntl(writes(), F_SETFL, O_NONBLOCK);
    while (::write(writes(), "#", 1) == 1)
      ++filling_;
    ::fcntl(writes(), F_SETFL, 0);
  }
  FullPipe(FullPipe const&) = delete;
  FullPipe& operator=(FullPipe const&) = delete;
  ~FullPipe() {
    ::close(reads());
    ::close(writes());
  }

  [[nodiscard]] int reads() const { return ends_[0]; }
  [[nodiscard]] int writes() const { return ends_[1]; }

  // The lines after the filling, until the reports add up to `dropped` lines.
  std::vector<std::string> read_until_told(std::int64_t dropped) {
    std::string text;
    std::array<char, 4096> piece{};
    while (told_in(text) < dropped || !text.ends_with('\n')) {
      auto const got = ::read(reads(), piece.data(), piece.size());
      if (got <= 0) break;
      text.append(piece.data(), static_cast<std::size_t>(got));
    }
    std::vector<std::string> lines;
    std::istringstream rest{text.substr(filling_)};
    for (std::string line; std::getline(rest, line);)
      lines.push_back(line);
    return lines;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
  std::size_t filling_ = 0;
};

std::string read_all(int descriptor) {
  std::string text;
  std::array<char, 4096> piece{};
  for (ssize_t got = 0; (got = ::read(descriptor, piece.data(), piece.size())) > 0;)
    text.append(piece.data(), static_cast<std::size_t>(got));
  return text;
}

TEST(LogQueue, LinesComeOutInTheirOrderAndAllBeforeItStops) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  std::string expected;
  {
    LogQueue queue{ends[1], 1 << 16, &report};
    for (int i = 0; i < 200; ++i) {
      queue.push("line " + std::to_string(i) + "\n");
      expected += "line " + std::to_string(i) + "\n";
    }

    EXPECT_TRUE(queue.stop(5s));
  }
  ::close(ends[1]);

  EXPECT_EQ(read_all(ends[0]), expected);
  ::close(ends[0]);
}

TEST(LogQueue, ADescriptorThatTakesNothingBlocksNobodyAndCostsOnlyLines) {
  FullPipe pipe;
  auto const before = LogQueue::dropped();
  LogQueue queue{pipe.writes(), 1000, &report};
  std::string const line = std::string(99, 'x') + "\n";

  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 100; ++n)
        queue.push(line);
    });
  }
  for (auto& thread : threads)
    thread.join();
  auto const dropped = LogQueue::dropped() - before;

  EXPECT_GE(dropped, 400 - 20);  // Ten lines wait, and ten more may be in the middle of a write.
  EXPECT_LE(dropped, 400 - 10);
  auto const lines = pipe.read_until_told(dropped);
  EXPECT_EQ(std::count(lines.begin(), lines.end(), line.substr(0, 99)), 400 - dropped);
  queue.push("again\n");
  EXPECT_TRUE(queue.stop(5s));
  EXPECT_EQ(LogQueue::dropped() - before, dropped);
}

TEST(LogQueue, StoppingDoesNotWaitLongerThanItsPatience) {
  FullPipe pipe;
  auto const before = LogQueue::dropped();
  {
    LogQueue queue{pipe.writes(), 1000, &report};
    queue.push("under way\n");
    std::this_thread::sleep_for(20ms);  // Whether the write has begun or not, the line stays unwritten.
    queue.push("waits\n");
    auto const began = Clock::now();

    EXPECT_FALSE(queue.stop(50ms));

    EXPECT_LT(Clock::now() - began, 2s);
  }
  EXPECT_GE(LogQueue::dropped() - before, 1);
  pipe.read_until_told(1);  // Lets the thread that stayed behind finish its write.
}

TEST(LogQueue, LinesForABrokenDescriptorAreCounted) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  auto const before = LogQueue::dropped();
  LogQueue queue{ends[0], 1000, &report};  // The end that cannot be written.

  queue.push("one\ntwo\n");

  EXPECT_TRUE(queue.stop(5s));
  EXPECT_EQ(LogQueue::dropped() - before, 2);
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace runnel::base

#include "runnel/base/metrics/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

namespace runnel::base {
namespace {

using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

void on_threads(int count, std::function<void()> const& work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back(work);
  for (auto& thread : threads)
    thread.join();
}

TEST(Metrics, HTTP_7_ACounterIsTheSumOfWhatAllThreadsCounted) {
  Metrics metrics;
  auto const counter = metrics.counter("runnel_things_total", "Things.", {{"kind", "a"}});

  on_threads(4, [&] {
    for (int i = 0; i < 200'000; ++i)
      counter.add(2);
  });
  counter.add();

  EXPECT_EQ(metrics.text(),
            "# HELP runnel_things_total Things.\n# TYPE runnel_things_total counter\n"
            "runnel_things_total{kind=\"a\"} 1600001\n");
}

TEST(Metrics, HTTP_7_MoreThreadsThanPlacesLoseNothing) {
  Metrics metrics;
  auto const counter = metrics.counter("runnel_things_total", "Things.");
  std::atomic<int> begun = 0;

  on_threads(200, [&] {
    counter.add();
    ++begun;
    while (begun < 200)
      std::this_thread::yield();
    for (int i = 0; i < 9'999; ++i)
      counter.add();
  });

  EXPECT_THAT(metrics.text(), HasSubstr("\nrunnel_things_total 2000000\n"));
}

TEST(Metrics, HTTP_7_WhatEndedThreadsCountedStays) {
  Metrics metrics;
  auto const counter = metrics.counter("runnel_things_total", "Things.");

  for (int i = 0; i < 300; ++i)
    on_threads(1, [&] { counter.add(); });

  EXPECT_THAT(metrics.text(), HasSubstr("\nrunnel_things_total 300\n"));
}

TEST(Metrics, HTTP_7_ALevelGoesUpOnOneThreadAndDownOnAnother) {
  Metrics metrics;
  auto const level = metrics.gauge("runnel_open", "Open now.");

  level.add(5);
  on_threads(1, [&] { level.subtract(3); });
  EXPECT_THAT(metrics.text(), HasSubstr("# TYPE runnel_open gauge\nrunnel_open 2\n"));

  level.subtract(4);
  EXPECT_THAT(metrics.text(), HasSubstr("\nrunnel_open 0\n"));
}

TEST(Metrics, HTTP_7_AHistogramOfTimesIsInSeconds) {
  Metrics metrics;
  auto const times = metrics.times("runnel_took_seconds", "Took.", {1ms, 10ms});

  times.observe(1ms);
  times.observe(5ms);
  times.observe(2s);

  EXPECT_THAT(metrics.text(), HasSubstr("runnel_took_seconds_count 3\n"));
  EXPECT_THAT(metrics.text(), HasSubstr("runnel_took_seconds_sum 2.006"));
  EXPECT_THAT(metrics.text(), HasSubstr("runnel_took_seconds_bucket{le=\"0.001\"} 1\n"));
  EXPECT_THAT(metrics.text(), HasSubstr("runnel_took_seconds_bucket{le=\"0.01\"} 2\n"));
  EXPECT_THAT(metrics.text(), HasSubstr("runnel_took_seconds_bucket{le=\"+Inf\"} 3\n"));
}

TEST(Metrics, HTTP_7_SeriesOfOneNameHaveOneHead) {
  Metrics metrics;
  auto const a = metrics.sizes("runnel_group", "Groups.", {1, 8}, {{"of", "a"}});
  auto const b = metrics.sizes("runnel_group", "Groups.", {1, 8}, {{"of", "b"}});

  a.observe(4);
  b.observe(9);

  auto const text = metrics.text();
  EXPECT_EQ(text.find("# TYPE"), text.rfind("# TYPE"));
  EXPECT_THAT(text, HasSubstr("runnel_group_bucket{of=\"a\",le=\"8\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("runnel_group_bucket{of=\"b\",le=\"8\"} 0\n"));
}

TEST(Metrics, WrongNamesAreBugs) {
  Metrics metrics;
  metrics.counter("runnel_things_total", "Things.");

  EXPECT_THROW(metrics.counter("runnel_things_total", "Things."), std::logic_error);
  EXPECT_THROW(metrics.gauge("runnel_things_total", "Things.", {{"kind", "a"}}), std::logic_error);
  EXPECT_THROW(metrics.counter("runnel things", "Things."), std::logic_error);
  EXPECT_THROW(for (int i = 0; i < 5000; ++i)
                   metrics.counter("runnel_many_total", "Many.", {{"i", std::to_string(i)}}),
               std::logic_error);
}

TEST(Metrics, WithoutARegistryNothingIsCounted) {
  Counter{}.add();
  Gauge{}.add();
  Histogram{}.observe(1);
}

TEST(Metrics, HTTP_7_TheProcessIsThere) {
  Metrics metrics;
  EXPECT_THAT(metrics.text(), Not(HasSubstr("process_")));

  metrics.add_process();

  auto const text = metrics.text();
  for (char const* name :
       {"process_cpu_seconds_total ", "process_resident_memory_bytes ", "process_virtual_memory_bytes ",
        "process_open_fds ", "process_max_fds ", "process_start_time_seconds "}) {
    auto const at = text.find("\n" + std::string{name});
    ASSERT_NE(at, std::string::npos) << name;
    EXPECT_GT(std::stod(text.substr(at + 1 + std::string{name}.size())), 0) << name;
  }
  EXPECT_THAT(text, HasSubstr("runnel_build_info{version=\"" RUNNEL_VERSION "\"} 1\n"));
}

}  // namespace
}  // namespace runnel::base

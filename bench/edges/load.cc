// The load of bench/edges/run: `runnel_load --port P -c C -n N …` sends the request that stands on its input
// (a token does not belong into arguments) and prints one line of JSON.
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <exception>
#include <iostream>
#include <iterator>
#include <string>
#include <utility>

#include "bench/edges/load_client.h"

namespace {

using runnel::bench::LoadOptions;
using runnel::bench::LoadResult;

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  auto const seconds = [](timeval const& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void print(LoadResult result) {
  auto& times = result.latencies_us;
  std::sort(times.begin(), times.end());
  auto const at = [&times](std::size_t percent) {
    return times.empty() ? 0.0 : times[(times.size() - 1) * percent / 100];
  };
  std::string statuses;
  for (auto const& [status, count] : result.statuses)
    statuses += fmt::format("{}\"{}\":{}", statuses.empty() ? "" : ",", status, count);
  fmt::print(
      R"({{"answers":{},"failed":{},"statuses":{{{}}},"wall_s":{:.6f},"p50_us":{:.1f},"p99_us":{:.1f},"max_us":{:.1f},)"
      R"("body_bytes":{},"counted":{},"reads":{},"cpu_s":{:.3f}}})"
      "\n",
      times.size(), result.failed, statuses, result.wall_s, at(50), at(99), at(100), result.body_bytes,
      result.counted, result.reads, cpu_seconds());
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "Sends the HTTP request on standard input again and again and tells how long the answers took.",
      "runnel_load"};
  LoadOptions load;
  app.add_option("--port", load.port, "on 127.0.0.1")->required();
  app.add_option("-c,--connections", load.connections, "at once")->check(CLI::PositiveNumber);
  app.add_option("-n,--requests", load.requests, "in all")->check(CLI::PositiveNumber);
  app.add_flag("--keep-alive", load.keep_alive, "many requests on a connection");
  app.add_option("--until", load.until, "an answer is read when its body holds this");
  app.add_option("--count", load.count, "a text to count in the bodies");
  app.add_flag("--ready", load.say_ready, "print 'ready' when each connection has a head");
  CLI11_PARSE(app, argc, argv);
  try {
    load.request.assign(std::istreambuf_iterator<char>{std::cin}, {});
    print(run_load(load));
    return 0;
  } catch (std::exception const& error) {
    fmt::print(stderr, "runnel_load: {}\n", error.what());
    return 1;
  }
}

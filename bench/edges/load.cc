// The load of bench/edges/run: `runnel_load --port P -c C -n N …` sends the requests that it reads from
// standard input, separated by NUL (a token must not be in the arguments), and prints one line of JSON.
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

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

// The texts between the NULs.
std::vector<std::string> split(std::string const& input) {
  std::vector<std::string> parts;
  std::istringstream in{input};
  for (std::string part; std::getline(in, part, '\0');)
    parts.push_back(part);
  return parts;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "Sends the HTTP requests from standard input again and again and prints how long the answers took.",
      "runnel_load"};
  LoadOptions load;
  app.add_option("--port", load.port, "the server's port on 127.0.0.1")->required();
  app.add_option("-c,--connections", load.connections, "how many at once")->check(CLI::PositiveNumber);
  app.add_option("-n,--requests", load.requests, "how many in total")->check(CLI::PositiveNumber);
  app.add_flag("--keep-alive", load.keep_alive, "send many requests on one connection");
  std::int64_t every_ms = 0;
  app.add_option("--every-ms", every_ms, "the time between two requests of a connection");
  app.add_option("--until", load.until, "read each answer only until its body contains this text");
  app.add_option("--count", load.count, "count this text in the bodies");
  app.add_flag("--ready", load.say_ready, "print 'ready' when each connection has received a head");
  CLI11_PARSE(app, argc, argv);
  try {
    load.every = std::chrono::milliseconds{every_ms};
    load.messages = split({std::istreambuf_iterator<char>{std::cin}, {}});
    print(run_load(load));
    return 0;
  } catch (std::exception const& error) {
    fmt::print(stderr, "runnel_load: {}\n", error.what());
    return 1;
  }
}

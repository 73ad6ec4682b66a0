// Logs that earlier versions wrote can be read (RUN-12). They are in tests/conformance/stored_logs.
#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "runnel/core/fact/fact_json.h"
#include "runnel/core/fact/fact_order.h"
#include "runnel/core/testing/fact_samples.h"

namespace runnel {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

fs::path folder() {
  return fs::path{RUNNEL_SOURCE_DIR} / "tests/conformance/stored_logs";
}

std::vector<fs::path> versions() {
  std::vector<fs::path> out;
  for (auto const& entry : fs::directory_iterator{folder()}) {
    if (entry.is_directory()) out.push_back(entry.path());
  }
  return out;
}

void write_every_kind(fs::path const& path) {
  std::string body;
  for (auto const& record : fact_samples()) {
    body += body.empty() ? '[' : ',';
    append_record_json(body, record);
  }
  json::array const rows{json::object{{"epoch", 1}, {"body", body + "]"}}};
  std::ofstream{path} << json::serialize(rows) << '\n';
}

std::vector<Record> read_log_file(fs::path const& path) {
  std::ifstream file{path};
  std::string const text{std::istreambuf_iterator<char>{file}, {}};
  auto const rows = json::parse(text);
  std::vector<Record> out;
  for (auto const& row : rows.as_array()) {
    auto const body = std::string{row.at("body").as_string()};
    auto records = parse_log_body(body, row.at("epoch").to_number<Epoch>());
    EXPECT_TRUE(records) << path << ": " << (records ? "" : records.error().detail);
    if (records) std::move(records->begin(), records->end(), std::back_inserter(out));
  }
  return out;
}

TEST(StoredLogs, RUN_12_EveryShapeOfRunIsReadAndItsOrderIsAccepted) {
  int runs = 0;
  for (auto const& version : versions()) {
    for (auto const& entry : fs::directory_iterator{version}) {
      if (entry.path().filename() == "every_kind.json") continue;
      FactOrder order;
      std::uint64_t n = 0;
      for (auto const& record : read_log_file(entry.path())) {
        EXPECT_EQ(record.position.n, ++n) << entry.path();
        auto const accepted = order.accept(record.fact);
        EXPECT_TRUE(accepted) << entry.path() << " at " << n;
      }
      EXPECT_EQ(order.ended(), entry.path().filename() != "under_way.json") << entry.path();
      ++runs;
    }
  }
  EXPECT_GE(runs, 10);
}

TEST(StoredLogs, RUN_12_EveryKindOfFactThatAVersionKnewIsRead) {
  constexpr std::size_t kKindsIn01 = 37;
  for (auto const& version : versions()) {
    auto const path = version / "every_kind.json";
    if (std::getenv("RUNNEL_UPDATE_GOLDEN") != nullptr && !fs::exists(path)) write_every_kind(path);
    std::set<std::size_t> kinds;
    for (auto const& record : read_log_file(path))
      kinds.insert(record.fact.index());
    EXPECT_GE(kinds.size(), kKindsIn01) << path;
  }
}

}  // namespace
}  // namespace runnel

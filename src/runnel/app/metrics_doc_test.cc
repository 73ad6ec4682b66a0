#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "runnel/http/http_metrics.h"
#include "runnel/runtime/lifecycle/run_metrics.h"
#include "runnel/store/store_metrics.h"
#include "runnel/stream/stream_metrics.h"

namespace runnel::app {
namespace {

std::set<std::string> found_in(std::string const& text, std::string const& pattern) {
  std::set<std::string> out;
  std::regex const expression{pattern};
  for (std::sregex_iterator it{text.begin(), text.end(), expression}, end; it != end; ++it)
    out.insert((*it)[1]);
  return out;
}

TEST(MetricsDoc, HTTP_7_ListsTheNamesThatAreExported) {
  base::Metrics metrics;
  metrics.add_process();
  store::StoreMetrics const store{metrics};
  stream::StreamMetrics const stream{metrics};
  runtime::RunMetrics const runs{metrics};
  http::HttpMetrics const http{metrics};
  http::loop_lag(metrics, 0);

  std::ifstream file{std::string{RUNNEL_SOURCE_DIR} + "/docs/operations.md"};
  std::stringstream document;
  document << file.rdbuf();

  EXPECT_EQ(found_in(document.str(), R"(\| `((?:runnel|process)_[a-z_]+))"),
            found_in(metrics.text(), "# TYPE ([a-z_]+) "));
}

}  // namespace
}  // namespace runnel::app

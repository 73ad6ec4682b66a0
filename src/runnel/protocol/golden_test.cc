#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "runnel/core/fact_order.h"
#include "runnel/protocol/encode.h"
#include "runnel/protocol/transcripts.h"

// The scripted runs, byte for byte as tests/conformance/golden keeps them. RUNNEL_UPDATE_GOLDEN=1 writes them
// anew.
namespace runnel::protocol {
namespace {

namespace fs = std::filesystem;

fs::path golden_folder() {
  return fs::path{RUNNEL_SOURCE_DIR} / "tests/conformance/golden";
}

fs::path golden_file(Transcript const& transcript, Dialect dialect) {
  return golden_folder() / (transcript.name + "." + to_string(dialect) + ".sse");
}

std::string encode(Transcript const& transcript, Dialect dialect) {
  std::string out;
  for (auto const& record : transcript.records)
    encode_frame(dialect, transcript.names, record, out);
  return out;
}

std::string read(fs::path const& path) {
  std::ifstream in{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

TEST(Golden, EveryTranscriptIsARunThatCanHappen) {
  for (auto const& transcript : all_transcripts()) {
    FactOrder order;
    for (auto const& record : transcript.records) {
      auto const accepted = order.accept(record.fact);
      EXPECT_TRUE(accepted) << transcript.name << ": " << accepted.error().detail;
    }
    EXPECT_TRUE(order.ended()) << transcript.name;
  }
}

TEST(Golden, EveryDialectGivesTheStoredBytes) {
  bool const update = std::getenv("RUNNEL_UPDATE_GOLDEN") != nullptr;
  for (auto const& transcript : all_transcripts()) {
    for (auto const dialect : kAllDialects) {
      auto const path = golden_file(transcript, dialect);
      auto const bytes = encode(transcript, dialect);
      if (update) std::ofstream{path, std::ios::binary} << bytes;
      EXPECT_EQ(bytes, read(path)) << path;
    }
  }
}

TEST(Golden, TheFolderHoldsNothingElse) {
  auto const files = std::distance(fs::directory_iterator{golden_folder()}, {});
  EXPECT_EQ(static_cast<std::size_t>(files), all_transcripts().size() * kDialects);
}

}  // namespace
}  // namespace runnel::protocol

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "runnel/core/fact/fact_order.h"
#include "runnel/protocol/testing/named_wires.h"
#include "runnel/protocol/testing/transcripts.h"

// The scripted runs must give the bytes stored in tests/conformance/golden. With RUNNEL_UPDATE_GOLDEN=1 the
// test rewrites these files.
namespace runnel::protocol {
namespace {

namespace fs = std::filesystem;

fs::path golden_folder() {
  return fs::path{RUNNEL_SOURCE_DIR} / "tests/conformance/golden";
}

std::string extension_of(Wire wire) {
  switch (transport_of(wire)) {
    case Transport::sse:
      return ".sse";
    case Transport::poll:
      return ".elements";
    case Transport::web_socket:
      return ".frames";
  }
  return "";
}

fs::path golden_file(Transcript const& transcript, Wire wire) {
  return golden_folder() / (transcript.name + "." + std::string{name_of(wire)} + extension_of(wire));
}

std::string bytes_of(Transcript const& transcript, Wire wire) {
  std::string out;
  for (auto const& record : transcript.records)
    protocol::encode(wire, transcript.names, record, out);
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
    for (auto const wire : every_wire()) {
      auto const path = golden_file(transcript, wire);
      auto const bytes = bytes_of(transcript, wire);
      if (update) std::ofstream{path, std::ios::binary} << bytes;
      EXPECT_EQ(bytes, read(path)) << path;
    }
  }
}

TEST(Golden, TheFolderHoldsNothingElse) {
  auto const files = std::distance(fs::directory_iterator{golden_folder()}, {});
  EXPECT_EQ(static_cast<std::size_t>(files), all_transcripts().size() * all_wires().size());
}

}  // namespace
}  // namespace runnel::protocol

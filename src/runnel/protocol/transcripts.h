#pragma once

#include <string>
#include <utility>
#include <vector>

#include "runnel/core/fact.h"
#include "runnel/core/run_names.h"

// Scripted runs for tests: what tests/conformance/golden shows in each dialect.
namespace runnel::protocol {

struct Transcript {
  std::string name;
  RunNames names;
  std::vector<Record> records;
};

std::vector<Transcript> all_transcripts();

}  // namespace runnel::protocol

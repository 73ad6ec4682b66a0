#pragma once

#include <string>
#include <utility>
#include <vector>

#include "runnel/core/fact/fact.h"
#include "runnel/core/fact/run_names.h"

// Scripted runs for tests; tests/conformance/golden has their bytes in each dialect.
namespace runnel::protocol {

struct Transcript {
  std::string name;
  RunNames names;
  std::vector<Record> records;
};

std::vector<Transcript> all_transcripts();

}  // namespace runnel::protocol

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runnel/core/fact/fact.h"
#include "runnel/core/fact/run_names.h"

// A run like those of the test model, which the benchmarks encode, write and read.
namespace runnel::bench {

inline constexpr Epoch kEpoch = 1'700'000'000'000;

// The ids are as long as those that the server makes.
RunNames sample_names();

Record sample_delta(std::uint64_t n);

// The whole log of a run with this many tokens of text. It has seven records more than tokens.
std::vector<Record> sample_run(std::size_t tokens);

// `records[first]` up to `records[last - 1]` as the body of a row of the log.
std::string log_body(std::vector<Record> const& records, std::size_t first, std::size_t last);

}  // namespace runnel::bench

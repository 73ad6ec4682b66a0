#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runnel/core/fact.h"
#include "runnel/core/run_names.h"

// A run as the test model makes one: what the benchmarks encode, write and read.
namespace runnel::bench {

inline constexpr Epoch kEpoch = 1'700'000'000'000;

// Ids as long as the ones that the server mints.
RunNames sample_names();

Record sample_delta(std::uint64_t n);

// The whole log of a run with so many tokens of text: seven records more than tokens.
std::vector<Record> sample_run(std::size_t tokens);

// `records[first]` up to `records[last - 1]` as a row of the log has them.
std::string log_body(std::vector<Record> const& records, std::size_t first, std::size_t last);

}  // namespace runnel::bench

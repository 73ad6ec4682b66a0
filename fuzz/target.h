#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

// RUNNEL_FUZZ_TARGET(name) {…} tries the input `data`, which has `size` bytes. libFuzzer calls it by the name
// that it expects. In the tests, where all targets are in one program, it is fuzz_<name>.
#ifdef RUNNEL_LIBFUZZER
#define RUNNEL_FUZZ_ENTRY(name) LLVMFuzzerTestOneInput
#else
#define RUNNEL_FUZZ_ENTRY(name) fuzz_##name
#endif
#define RUNNEL_FUZZ_TARGET(name) \
  extern "C" int RUNNEL_FUZZ_ENTRY(name)(std::uint8_t const* data, std::size_t size)

// States what must hold for every input. If it does not hold, the fuzzer has a finding.
inline void require(bool holds, char const* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

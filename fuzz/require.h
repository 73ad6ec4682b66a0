#pragma once

#include <cstdio>
#include <cstdlib>

// What must hold for every input; where it does not, the fuzzer has a finding.
inline void require(bool holds, char const* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

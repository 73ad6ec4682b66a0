#pragma once

#include <cstdio>
#include <cstdlib>

// States what must hold for every input. If it does not hold, the fuzzer has a finding.
inline void require(bool holds, char const* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

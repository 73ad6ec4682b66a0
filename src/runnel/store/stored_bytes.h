#pragma once

#include <cstdint>

#include "runnel/store/rows.h"

namespace runnel::store {

// What rows take up of their owner's storage (HTTP-9): the bytes of their texts.
struct StoredBytes {
  std::int64_t log = 0;   // Goes with the run's log: facts and checkpoints.
  std::int64_t kept = 0;  // Stays with the run: its input and messages.
};

StoredBytes bytes_of(Begin const& begin);
StoredBytes bytes_of(AppendRequest const& request);

}  // namespace runnel::store

#pragma once

#include <cstdint>

#include "runnel/store/rows.h"

namespace runnel::store {

// How much of their owner's storage rows take (HTTP-9): the bytes of their texts.
struct StoredBytes {
  std::int64_t log = 0;   // Deleted with the run's log: facts and checkpoints.
  std::int64_t kept = 0;  // Kept as long as the run: its input and messages.
};

StoredBytes bytes_of(Begin const& begin);
StoredBytes bytes_of(AppendRequest const& request);

}  // namespace runnel::store

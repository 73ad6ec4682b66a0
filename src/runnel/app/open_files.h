#pragma once

#include <cstddef>
#include <cstdint>

namespace runnel::app {

// Raises this process's limit on open files as far as it may; the limit then.
std::size_t raise_open_files_limit();

// How many connections may be open where `open_files` may be, with some kept back for the database, logs and
// tools: those, or fewer if `wanted` is less and not 0. More than that is logged as a warning.
std::size_t connection_cap(std::int64_t wanted, std::size_t open_files);

}  // namespace runnel::app

#pragma once

#include <cstddef>
#include <cstdint>

namespace runnel::app {

// Raises this process's limit on open files as far as allowed, and returns the new limit.
std::size_t raise_open_files_limit();

// How many connections may be open if the process may have `open_files` open files, some of which are
// reserved for the database, logs and tools. It is `wanted` if that is less and not 0. If `wanted` is more, a
// warning is logged.
std::size_t connection_cap(std::int64_t wanted, std::size_t open_files);

}  // namespace runnel::app

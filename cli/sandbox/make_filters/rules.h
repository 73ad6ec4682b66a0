#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <vector>

namespace sandbox {

// Refuses system calls that a program in the sandbox does not need: to leave its process group, to touch
// other processes, to change owners or modes of files, to change namespaces, mounts or the kernel, to open
// sockets (with `network`: other sockets than the internet's), and to start processes (with `processes`: in
// other namespaces). Without `processes` it may signal only `own_pid`. A call in the manner of another
// architecture ends the program. Throws std::runtime_error.
std::vector<sock_filter> make_filter(bool network, bool processes, std::uint32_t own_pid);

// Refuses every system call except the few that project_cli needs once it has been confined: to read and
// write what it has open, to get memory that cannot be executed, to limit the size of its files, to tell who
// it is, and to end. Throws std::runtime_error.
std::vector<sock_filter> make_own_filter();

}  // namespace sandbox

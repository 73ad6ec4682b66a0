#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <span>

// The filters of system calls. make_filters compiles them when the programs of cli/ are built, because that
// takes longer than anything else that confining a program does.
namespace sandbox {

// Stands for the process's own pid, which only the running process knows. No pid is as large.
inline constexpr std::uint32_t kOwnPid = 0x7ace51d1;

// What a program with these rights gets. Each kOwnPid in it is to be replaced.
std::span<sock_filter const> filter_for(bool network, bool processes);

// What project_cli gets, which confines itself. Nothing in it is to be replaced.
std::span<sock_filter const> own_filter();

}  // namespace sandbox

#pragma once

#include <functional>
#include <set>
#include <string>

#include "runnel/tools/tool.h"

namespace runnel::tools {

// The methods that models may call, as "module.method". This list is the first of the two gates (TOOL-3): a
// call of any other method starts no program.
using MethodNames = std::set<std::string, std::less<>>;

// Longer arguments are refused unread, because they are parsed on the run's core. A batch of 1,000 events
// fits.
inline constexpr std::size_t kMostArgumentBytes = std::size_t{256} * 1024;

// Reads the arguments of project_cli as the model wrote them: {"module","method","input"}, and an "intent",
// which is only for display (TOOL-1). Without an input it is empty. Refuses everything else. What a refused
// call shows as its arguments is what could be read of these three.
PreparedCall read_arguments(std::string const& arguments, MethodNames const& allowed);

}  // namespace runnel::tools

#pragma once

#include <span>
#include <string_view>

namespace runnel {

// What project_cli knows of a module: the methods that it passes on. It is the second of the two gates of a
// tool call (TOOL-3): a method that is not in a module's table cannot be called through the program, whatever
// the server allows. A module's table is in its folder, in commands.h.
struct CommandMethod {
  std::string_view name;
  std::string_view about;  // One line for --help.
};

struct CommandModule {
  std::string_view name;
  std::string_view about;
  std::span<CommandMethod const> methods;
};

}  // namespace runnel

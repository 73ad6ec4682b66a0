#include <cstddef>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/sandbox/filters.h"
#include "cli/sandbox/make_filters/rules.h"

// Prints the source file that defines the functions of filters.h. Runs while the programs of cli/ are built,
// for the architecture that it runs on.

namespace {

using Code = std::vector<sock_filter>;

// Any other number that is no pid.
constexpr std::uint32_t kOtherPid = 0x7e57ab1e;

bool is_same(sock_filter const& a, sock_filter const& b) {
  return a.code == b.code && a.jt == b.jt && a.jf == b.jf && a.k == b.k;
}

// Compiles the filter for two pids. Where the two programs differ, the pid is compared. Throws unless kOwnPid
// is in exactly these places, so that the running process can replace it without knowing them.
Code make_checked(bool network, bool processes) {
  auto code = sandbox::make_filter(network, processes, sandbox::kOwnPid);
  auto const other = sandbox::make_filter(network, processes, kOtherPid);
  if (code.size() != other.size()) throw std::runtime_error{"the length of the filter depends on the pid"};
  std::size_t found = 0;
  for (std::size_t i = 0; i < code.size(); ++i) {
    auto replaced = code[i];
    if (replaced.k == sandbox::kOwnPid) {
      replaced.k = kOtherPid;
      ++found;
    }
    if (!is_same(replaced, other[i])) throw std::runtime_error{"kOwnPid is not only where the pid is"};
  }
  if ((found > 0) == processes) throw std::runtime_error{"the pid is not compared as expected"};
  return code;
}

void print(char const* name, Code const& code) {
  std::printf("constexpr sock_filter %s[] = {\n", name);
  for (auto const& step : code)
    std::printf("    {%#x, %u, %u, %#x},\n", step.code, step.jt, step.jf, step.k);
  std::printf("};\n\n");
}

void print_all() {
  std::printf(
      "// Made by make_filters; do not edit.\n"
      "#include \"cli/sandbox/filters.h\"\n\n"
      "namespace sandbox {\n\nnamespace {\n\n");
  print("kNeither", make_checked(false, false));
  print("kWithProcesses", make_checked(false, true));
  print("kWithNetwork", make_checked(true, false));
  print("kWithBoth", make_checked(true, true));
  print("kOwn", sandbox::make_own_filter());
  std::printf(
      "}  // namespace\n\n"
      "std::span<sock_filter const> filter_for(bool network, bool processes) {\n"
      "  if (network && processes) return kWithBoth;\n"
      "  if (network) return kWithNetwork;\n"
      "  if (processes) return kWithProcesses;\n"
      "  return kNeither;\n"
      "}\n\n"
      "std::span<sock_filter const> own_filter() {\n"
      "  return kOwn;\n"
      "}\n\n}  // namespace sandbox\n");
}

}  // namespace

int main() {
  try {
    print_all();
  } catch (std::exception const& error) {
    std::fprintf(stderr, "make_filters: %s\n", error.what());
    return 1;
  }
  return std::fflush(stdout) == 0 ? 0 : 1;
}

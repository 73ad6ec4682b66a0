#include <cstdio>
#include <cstring>

// The restricted command that runs tools. It has no methods: it prints its version and refuses everything
// else.
int main(int argc, char** argv) {
  bool const version =
      argc == 2 && (std::strcmp(argv[1], "version") == 0 || std::strcmp(argv[1], "--version") == 0);
  if (version) {
    std::puts("project_cli " RUNNEL_VERSION);
    return 0;
  }
  std::fputs("usage: project_cli version\nThis version has no modules.\n", stderr);
  return 2;
}

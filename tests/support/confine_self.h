// For programs that take the place of project_cli: the server expects project_cli to give up its rights by
// itself, as the variable RUNNEL_SANDBOX says. These let runnel_sandbox do it, which is in the same folder.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void confine_self(char** argv) {
  char* const options = getenv("RUNNEL_SANDBOX");
  if (!options) return;
  static char program[4096];
  static char* arguments[64];
  size_t count = 0;
  char const* const slash = strrchr(argv[0], '/');
  snprintf(program, sizeof program, "%.*s/runnel_sandbox", slash ? (int)(slash - argv[0]) : 0, argv[0]);
  arguments[count++] = program;
  static char copy[4096];
  snprintf(copy, sizeof copy, "%s", options);
  for (char* option = strtok(copy, " "); option && count < 32; option = strtok(NULL, " "))
    arguments[count++] = option;
  arguments[count++] = "--";
  for (char** argument = argv; *argument && count < 63; ++argument)
    arguments[count++] = *argument;
  unsetenv("RUNNEL_SANDBOX");
  execv(program, arguments);
  _exit(127);
}

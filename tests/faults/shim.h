// What both LD_PRELOAD shims need: the real functions, and whether a descriptor is a file that they watch.
#pragma once

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

// The next definition of `name`, looked up once. In a race it is looked up twice, which does no harm.
#define REAL(result, name, ...)       \
  static result (*real)(__VA_ARGS__); \
  if (!real) real = (result(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

static pthread_mutex_t shim_lock = PTHREAD_MUTEX_INITIALIZER;

// The watched directory, from the environment; NULL if there is none. `variable` is the same in every call.
static char const* watched_directory(char const* variable) {
  static char const* directory;
  if (!directory) directory = getenv(variable);
  return directory;
}

// Whether it is the directory itself or below it. SQLite's -shm files are not watched: they are not data, and
// SQLite rebuilds them.
static int is_watched_path(char const* directory, char const* path) {
  if (!directory) return 0;
  size_t const length = strlen(directory);
  size_t const end = strlen(path);
  if (strncmp(path, directory, length) != 0 || (path[length] != '/' && path[length] != '\0')) return 0;
  return end < 4 || strcmp(path + end - 4, "-shm") != 0;
}

// Whether the file of a descriptor is watched. `path` is its path.
static int watched_fd(char const* directory, int fd, char path[PATH_MAX]) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t const length = readlink(link, path, PATH_MAX - 1);
  if (length < 0) return 0;
  path[length] = '\0';
  return is_watched_path(directory, path);
}

// LD_PRELOAD shim: fails the Nth write or sync of files below $FAILING_DIR, or kills the process at that
// point. What it does is set in a shared control page in the file $FAILING_CONTROL, which shims.py also maps.
// A failing pwrite still writes half of its bytes, as on a disk that becomes full. A kill comes before the
// call, of which nothing is done, or, in the mode kKillAfter, when the call is done and before it returns.
#include <signal.h>

#include "shim.h"

enum mode { kOff = 0, kOnce = 1, kPersistent = 2, kKill = 3, kKillNextWrite = 4, kKillAfter = 5 };
enum operation { kWrites = 1, kSyncs = 2 };
enum { kDieAfter = -1 };  // Not an errno.

// Has the layout of the struct format "<iiiiqqq" in shims.py.
struct control {
  int32_t mode;
  int32_t operations;  // Which operations are counted.
  int32_t error;       // The errno of a failed call.
  int32_t reserved;
  int64_t countdown;  // How many counted calls still succeed; 0: the next one fails.
  int64_t calls;      // Counted calls so far.
  int64_t hits;       // Failed calls, and kills.
};

static struct control* control(void) {
  static struct control* page;
  char const* const name = getenv("FAILING_CONTROL");
  if (page || !name) return page;
  int const fd = open(name, O_RDWR | O_CLOEXEC);
  if (fd < 0) abort();
  page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (page == MAP_FAILED) abort();
  close(fd);
  return page;
}

// Has the same effect as kill -9 from outside: the process does nothing more.
static void die(struct control* shared) {
  ++shared->hits;
  shared->mode = kOff;
  kill(getpid(), SIGKILL);
  for (;;)
    pause();
}

// The error with which this call must fail; 0 if it must not fail; kDieAfter if the process dies after it.
static int verdict(int fd, enum operation operation) {
  char path[PATH_MAX];
  if (!watched_fd(watched_directory("FAILING_DIR"), fd, path)) return 0;
  pthread_mutex_lock(&shim_lock);
  struct control* const shared = control();
  int error = 0;
  if (shared && shared->mode == kKillNextWrite && operation == kWrites && shared->countdown <= 0) die(shared);
  if (shared && shared->mode != kOff && (shared->operations & operation)) {
    ++shared->calls;
    if (shared->countdown > 0) {
      --shared->countdown;
    } else if (shared->mode == kKill) {
      die(shared);
    } else if (shared->mode == kKillAfter) {
      error = kDieAfter;
    } else if (shared->mode != kKillNextWrite) {
      error = shared->error;
      ++shared->hits;
      if (shared->mode == kOnce) shared->mode = kOff;
    }
  }
  pthread_mutex_unlock(&shim_lock);
  return error;
}

static int fail(int error) {
  errno = error;
  return -1;
}

static ssize_t pwrite_or_fail(int fd, void const* data, size_t size, off_t offset) {
  REAL(ssize_t, "pwrite64", int, void const*, size_t, off_t);
  int const error = verdict(fd, kWrites);
  if (!error) return real(fd, data, size, offset);
  (void)!real(fd, data, size / 2, offset);
  return fail(error);
}
ssize_t pwrite64(int fd, void const* data, size_t size, off_t offset) {
  return pwrite_or_fail(fd, data, size, offset);
}
ssize_t pwrite(int fd, void const* data, size_t size, off_t offset) {
  return pwrite_or_fail(fd, data, size, offset);
}

ssize_t write(int fd, void const* data, size_t size) {
  REAL(ssize_t, "write", int, void const*, size_t);
  int const error = verdict(fd, kWrites);
  return error ? fail(error) : real(fd, data, size);
}

ssize_t writev(int fd, struct iovec const* parts, int count) {
  REAL(ssize_t, "writev", int, struct iovec const*, int);
  int const error = verdict(fd, kWrites);
  return error ? fail(error) : real(fd, parts, count);
}

static int ftruncate_or_fail(int fd, off_t size) {
  REAL(int, "ftruncate64", int, off_t);
  int const error = verdict(fd, kWrites);
  return error ? fail(error) : real(fd, size);
}
int ftruncate64(int fd, off_t size) {
  return ftruncate_or_fail(fd, size);
}
int ftruncate(int fd, off_t size) {
  return ftruncate_or_fail(fd, size);
}

static int sync_or_fail(int fd, int (*real)(int)) {
  int const error = verdict(fd, kSyncs);
  if (error > 0) return fail(error);
  int const done = real(fd);
  if (error == kDieAfter) die(control());
  return done;
}
int fsync(int fd) {
  REAL(int, "fsync", int);
  return sync_or_fail(fd, real);
}
int fdatasync(int fd) {
  REAL(int, "fdatasync", int);
  return sync_or_fail(fd, real);
}

// LD_PRELOAD shim: makes `kill -9` lose as much as a power cut. The page cache keeps the writes of a killed
// process, so a missing fsync would never be noticed. Before each change to a file below $UNSYNCED_DIR, this
// appends an undo record to $UNSYNCED_JOURNAL; a sync appends a mark that voids the file's records so far.
// After the kill, shims.py applies the records that were not voided, newest first, and only synced bytes are
// left.
//
// Changes of names (create, unlink, rename) belong to the directory and are voided by a sync of the
// directory, as in POSIX. Names are read from /proc/self/fd, so that files renamed while open are followed.
#include "shim.h"

enum kind { kWrite = 'W', kTruncate = 'T', kCreate = 'C', kUnlink = 'U', kRename = 'R', kSync = 'S' };

// One record: this header, then `path`, then `other` (rename's target), then `data`.
struct record {
  uint32_t kind;
  uint32_t path_length;
  uint32_t other_length;
  uint32_t reserved;
  uint64_t offset;  // kWrite, kTruncate: where `data` was. kSync: the journal's size when the sync began.
  // kWrite, kTruncate: the file's size. kUnlink, kRename: 1 if `data` is the content that was removed or
  // replaced.
  uint64_t old_size;
  uint64_t data_length;
};

static int journal_fd = -1;
static uint64_t journal_size;

static char const* directory(void) {
  return watched_directory("UNSYNCED_DIR");
}

static ssize_t real_write(int fd, void const* data, size_t size) {
  REAL(ssize_t, "write", int, void const*, size_t);
  return real(fd, data, size);
}

static int real_open(char const* path, int flags, mode_t mode) {
  REAL(int, "open64", char const*, int, ...);
  return real(path, flags, mode);
}

static void put(void const* data, size_t size) {
  if (size == 0) return;
  if (real_write(journal_fd, data, size) != (ssize_t)size) abort();
  journal_size += size;
}

static void open_journal(void) {
  if (journal_fd >= 0) return;
  char const* const name = getenv("UNSYNCED_JOURNAL");
  journal_fd = name ? real_open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
  if (journal_fd < 0) abort();
  journal_size = (uint64_t)lseek(journal_fd, 0, SEEK_END);
}

// The caller holds the lock. A record must be complete before the change that it undoes.
static void journal(struct record record, char const* path, char const* other, void const* data) {
  open_journal();
  record.path_length = (uint32_t)strlen(path);
  record.other_length = other ? (uint32_t)strlen(other) : 0;
  put(&record, sizeof record);
  put(path, record.path_length);
  put(other, record.other_length);
  put(data, record.data_length);
}

static void* read_range(int fd, uint64_t offset, uint64_t size, uint64_t* got) {
  char* const data = malloc(size ? size : 1);
  if (!data) abort();
  *got = 0;
  while (*got < size) {
    ssize_t const n = pread(fd, data + *got, size - *got, (off_t)(offset + *got));
    if (n <= 0) break;
    *got += (uint64_t)n;
  }
  return data;
}

// The caller holds the lock. Saves the bytes [offset, offset + size) of the open file.
static void save_range(enum kind kind, int fd, char const* path, uint64_t offset, uint64_t size) {
  struct stat info;
  if (fstat(fd, &info) != 0) abort();
  // Writers often have the file open only for writing, so this reads through its own descriptor.
  int const reader = real_open(path, O_RDONLY | O_CLOEXEC, 0);
  struct record record = {.kind = kind, .offset = offset, .old_size = (uint64_t)info.st_size};
  void* const old = read_range(reader, offset, size, &record.data_length);
  journal(record, path, NULL, old);
  free(old);
  if (reader >= 0) close(reader);
}

// The caller holds the lock. Saves a whole file that is about to lose its name.
static void save_file(enum kind kind, char const* path, char const* other, char const* content_of) {
  struct record record = {.kind = kind};
  struct stat info;
  void* old = NULL;
  int const reader = real_open(content_of, O_RDONLY | O_CLOEXEC, 0);
  if (reader >= 0 && fstat(reader, &info) == 0) {
    record.old_size = 1;
    old = read_range(reader, 0, (uint64_t)info.st_size, &record.data_length);
  }
  journal(record, path, other, old);
  free(old);
  if (reader >= 0) close(reader);
}

// The absolute path, as the journal needs it.
static int absolute(char const* path, char out[PATH_MAX]) {
  if (path[0] == '/') return snprintf(out, PATH_MAX, "%s", path) < PATH_MAX;
  char cwd[PATH_MAX];
  return getcwd(cwd, sizeof cwd) && snprintf(out, PATH_MAX, "%s/%s", cwd, path) < PATH_MAX;
}

#define LOCKED(path_expression, save, call) \
  do {                                      \
    if (!(path_expression)) return call;    \
    pthread_mutex_lock(&shim_lock);         \
    save;                                   \
    __auto_type const result = call;        \
    int const error = errno;                \
    pthread_mutex_unlock(&shim_lock);       \
    errno = error;                          \
    return result;                          \
  } while (0)

// --- Bytes ---

static ssize_t pwrite_saved(int fd, void const* data, size_t size, off_t offset) {
  REAL(ssize_t, "pwrite64", int, void const*, size_t, off_t);
  char path[PATH_MAX];
  LOCKED(watched_fd(directory(), fd, path), save_range(kWrite, fd, path, (uint64_t)offset, size),
         real(fd, data, size, offset));
}
ssize_t pwrite64(int fd, void const* data, size_t size, off_t offset) {
  return pwrite_saved(fd, data, size, offset);
}
ssize_t pwrite(int fd, void const* data, size_t size, off_t offset) {
  return pwrite_saved(fd, data, size, offset);
}

static uint64_t write_position(int fd) {
  int const append = fcntl(fd, F_GETFL) & O_APPEND;
  struct stat info;
  if (append && fstat(fd, &info) == 0) return (uint64_t)info.st_size;
  return (uint64_t)lseek(fd, 0, SEEK_CUR);
}

ssize_t write(int fd, void const* data, size_t size) {
  char path[PATH_MAX];
  LOCKED(watched_fd(directory(), fd, path), save_range(kWrite, fd, path, write_position(fd), size),
         real_write(fd, data, size));
}

ssize_t writev(int fd, struct iovec const* parts, int count) {
  REAL(ssize_t, "writev", int, struct iovec const*, int);
  char path[PATH_MAX];
  size_t size = 0;
  for (int i = 0; i < count; ++i)
    size += parts[i].iov_len;
  LOCKED(watched_fd(directory(), fd, path), save_range(kWrite, fd, path, write_position(fd), size),
         real(fd, parts, count));
}

static int ftruncate_saved(int fd, off_t size) {
  REAL(int, "ftruncate64", int, off_t);
  char path[PATH_MAX];
  struct stat info;
  uint64_t const lost = fstat(fd, &info) == 0 && info.st_size > size ? (uint64_t)(info.st_size - size) : 0;
  LOCKED(watched_fd(directory(), fd, path), save_range(kTruncate, fd, path, (uint64_t)size, lost),
         real(fd, size));
}
int ftruncate64(int fd, off_t size) {
  return ftruncate_saved(fd, size);
}
int ftruncate(int fd, off_t size) {
  return ftruncate_saved(fd, size);
}

// --- Syncs ---

// Voids only the records from before the sync began: it does not cover a write that happens during the sync.
static int sync_marked(int fd, int (*real)(int)) {
  char path[PATH_MAX];
  if (!watched_fd(directory(), fd, path)) return real(fd);
  pthread_mutex_lock(&shim_lock);
  open_journal();
  uint64_t const begin = journal_size;
  pthread_mutex_unlock(&shim_lock);
  int const result = real(fd);
  int const error = errno;
  if (result == 0) {
    pthread_mutex_lock(&shim_lock);
    journal((struct record){.kind = kSync, .offset = begin}, path, NULL, NULL);
    pthread_mutex_unlock(&shim_lock);
  }
  errno = error;
  return result;
}
int fsync(int fd) {
  REAL(int, "fsync", int);
  return sync_marked(fd, real);
}
int fdatasync(int fd) {
  REAL(int, "fdatasync", int);
  return sync_marked(fd, real);
}

// --- Names ---

static int open_journaled(char const* path, int flags, mode_t mode) {
  char full[PATH_MAX];
  if (!(flags & (O_CREAT | O_TRUNC)) || !absolute(path, full) || !is_watched_path(directory(), full)) {
    return real_open(path, flags, mode);
  }
  pthread_mutex_lock(&shim_lock);
  struct stat info;
  if (stat(full, &info) != 0) {
    journal((struct record){.kind = kCreate}, full, NULL, NULL);
  } else if (flags & O_TRUNC) {
    int const old = real_open(full, O_RDONLY | O_CLOEXEC, 0);
    save_range(kTruncate, old, full, 0, (uint64_t)info.st_size);
    close(old);
  }
  int const fd = real_open(path, flags, mode);
  int const error = errno;
  pthread_mutex_unlock(&shim_lock);
  errno = error;
  return fd;
}
#define OPEN(name)                             \
  int name(char const* path, int flags, ...) { \
    va_list rest;                              \
    va_start(rest, flags);                     \
    mode_t const mode = va_arg(rest, mode_t);  \
    va_end(rest);                              \
    return open_journaled(path, flags, mode);  \
  }
OPEN(open)
OPEN(open64)

int unlink(char const* path) {
  REAL(int, "unlink", char const*);
  char full[PATH_MAX];
  LOCKED(absolute(path, full) && is_watched_path(directory(), full), save_file(kUnlink, full, NULL, full),
         real(path));
}

int rename(char const* from, char const* to) {
  REAL(int, "rename", char const*, char const*);
  char full[PATH_MAX];
  char target[PATH_MAX];
  LOCKED(absolute(from, full) && absolute(to, target) && is_watched_path(directory(), target),
         save_file(kRename, full, target, target), real(from, to));
}

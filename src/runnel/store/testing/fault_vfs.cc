#include "runnel/store/testing/fault_vfs.h"

#include <sqlite3.h>

#include <stdexcept>

namespace runnel::store {

namespace {

// A file of the default VFS with its methods copied, so that a few can be replaced.
struct FaultFile {
  sqlite3_file base;
  sqlite3_io_methods methods;
  sqlite3_file* real;
};

FaultFile* as_fault(sqlite3_file* file) {
  return reinterpret_cast<FaultFile*>(file);
}
sqlite3_file* real_of(sqlite3_file* file) {
  return as_fault(file)->real;
}

sqlite3_vfs* default_vfs() {
  static sqlite3_vfs* const vfs = sqlite3_vfs_find(nullptr);
  return vfs;
}

int fault_write(sqlite3_file* file, void const* data, int size, sqlite3_int64 offset) {
  int const code = FaultVfs::instance().next();
  return code != SQLITE_OK ? code : real_of(file)->pMethods->xWrite(real_of(file), data, size, offset);
}
int fault_sync(sqlite3_file* file, int flags) {
  FaultVfs::instance().count_sync();
  int const code = FaultVfs::instance().next();
  return code != SQLITE_OK ? SQLITE_IOERR_FSYNC : real_of(file)->pMethods->xSync(real_of(file), flags);
}
int fault_truncate(sqlite3_file* file, sqlite3_int64 size) {
  int const code = FaultVfs::instance().next();
  return code != SQLITE_OK ? SQLITE_IOERR_TRUNCATE : real_of(file)->pMethods->xTruncate(real_of(file), size);
}

template <auto Method, class... Args>
auto forward(sqlite3_file* file, Args... args) {
  return (real_of(file)->pMethods->*Method)(real_of(file), args...);
}

int fault_open(sqlite3_vfs* /*vfs*/, char const* name, sqlite3_file* file, int flags, int* out_flags) {
  auto* const fault = as_fault(file);
  fault->base.pMethods = nullptr;
  fault->real = reinterpret_cast<sqlite3_file*>(fault + 1);
  int const code = default_vfs()->xOpen(default_vfs(), name, fault->real, flags, out_flags);
  if (fault->real->pMethods == nullptr) return code;
  using M = sqlite3_io_methods;
  fault->methods = {fault->real->pMethods->iVersion,
                    forward<&M::xClose>,
                    forward<&M::xRead, void*, int, sqlite3_int64>,
                    fault_write,
                    fault_truncate,
                    fault_sync,
                    forward<&M::xFileSize, sqlite3_int64*>,
                    forward<&M::xLock, int>,
                    forward<&M::xUnlock, int>,
                    forward<&M::xCheckReservedLock, int*>,
                    forward<&M::xFileControl, int, void*>,
                    forward<&M::xSectorSize>,
                    forward<&M::xDeviceCharacteristics>,
                    forward<&M::xShmMap, int, int, int, void volatile**>,
                    forward<&M::xShmLock, int, int, int>,
                    forward<&M::xShmBarrier>,
                    forward<&M::xShmUnmap, int>,
                    forward<&M::xFetch, sqlite3_int64, int, void**>,
                    forward<&M::xUnfetch, sqlite3_int64, void*>};
  fault->base.pMethods = &fault->methods;
  return code;
}

}  // namespace

FaultVfs& FaultVfs::instance() {
  static FaultVfs vfs;
  return vfs;
}

FaultVfs::FaultVfs() {
  static sqlite3_vfs vfs = *default_vfs();
  vfs.zName = "runnel-fault";
  vfs.szOsFile += static_cast<int>(sizeof(FaultFile));
  vfs.xOpen = fault_open;
  if (sqlite3_vfs_register(&vfs, 0) != SQLITE_OK) throw std::runtime_error("cannot register the fault VFS");
}

void FaultVfs::arm(Fault fault) {
  left_ = fault.after;
  code_ = fault.code;
  lasting_ = fault.lasting;
  failed_ = 0;
  armed_ = true;
}

void FaultVfs::disarm() {
  armed_ = false;
}

int FaultVfs::next() {
  if (!armed_) return SQLITE_OK;
  long const left = left_--;
  if (left > 0 || (left < 0 && !lasting_)) return SQLITE_OK;
  ++failed_;
  return code_;
}

}  // namespace runnel::store

#pragma once

#include <atomic>
#include <string>

namespace runnel::store {

// A SQLite VFS on top of the default one, whose disk fails on command: each write, sync and truncation of any
// file is counted, and can be made to fail. There is one instance per process; it stays registered.
class FaultVfs {
 public:
  static FaultVfs& instance();

  [[nodiscard]] std::string name() const { return "runnel-fault"; }

  // After `after` more calls, the next one fails, and so do all later ones if `lasting`. A write fails with
  // `code`; a sync or a truncation fails with the I/O error that SQLite has for it.
  struct Fault {
    long after = 0;
    int code = 0;
    bool lasting = false;
  };
  void arm(Fault fault);
  void disarm();
  [[nodiscard]] long failed() const { return failed_; }  // Since `arm`.

  [[nodiscard]] long syncs() const { return syncs_; }  // Since the start of the process.

  // For the hooks: the code with which this call must fail, or SQLITE_OK.
  int next();
  void count_sync() { ++syncs_; }

 private:
  FaultVfs();

  std::atomic<bool> armed_{false};
  std::atomic<long> left_{0};
  std::atomic<long> failed_{0};
  std::atomic<long> syncs_{0};
  std::atomic<int> code_{0};
  std::atomic<bool> lasting_{false};
};

}  // namespace runnel::store

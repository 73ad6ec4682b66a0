#pragma once

#include <atomic>
#include <string>

namespace runnel::store {

// A SQLite VFS over the default one whose disk fails on command: each write, sync and truncation of any file
// is counted, and can be made to fail. One instance a process; it stays registered.
class FaultVfs {
 public:
  static FaultVfs& instance();

  [[nodiscard]] std::string name() const { return "runnel-fault"; }

  // The call after `after` more of them fails with `code`, and so do all later ones if `lasting`.
  struct Fault {
    long after = 0;
    int code = 0;
    bool lasting = false;
  };
  void arm(Fault fault);
  void disarm();
  [[nodiscard]] long failed() const { return failed_; }  // Since armed.

  [[nodiscard]] long syncs() const { return syncs_; }  // Since the start.

  // For the hooks: the code to fail this call with, or SQLITE_OK.
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

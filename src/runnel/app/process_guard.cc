#include "runnel/app/process_guard.h"

#include <linux/close_range.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <climits>

namespace runnel::app {

void guard_process() {
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  rlimit const none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  close_all_on_exec();
}

void close_all_on_exec() {
  ::close_range(STDERR_FILENO + 1, UINT_MAX, CLOSE_RANGE_CLOEXEC);
}

}  // namespace runnel::app

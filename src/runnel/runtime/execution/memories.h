#pragma once

#include <string>
#include <vector>

#include "runnel/core/ids.h"
#include "runnel/store/store.h"

namespace runnel::runtime {

// What was noted about users. The prompts of a run have what is noted about the run's own user (FLOW-6).
class Memories {
 public:
  Memories() = default;
  Memories(Memories const&) = delete;
  Memories& operator=(Memories const&) = delete;
  virtual ~Memories() = default;

  // What is noted about this user and about nobody else, each as the text of a JSON object. Empty if there is
  // nothing. May be called on any core, and may be repeated if it fails with `unavailable`.
  virtual store::Async<std::vector<std::string>> of(UserId user) = 0;
};

}  // namespace runnel::runtime

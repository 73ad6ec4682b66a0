#pragma once

#include "runnel/modules/memory/repository.h"
#include "runnel/runtime/execution/memories.h"

namespace runnel::app {

// What the memory module has noted about users, for prompts: {"kind","content"} for each kind.
class NotedMemories final : public runtime::Memories {
 public:
  // `sql` outlives every call.
  explicit NotedMemories(store::Sql& sql) : repository_{sql} {}

  store::Async<std::vector<std::string>> of(UserId user) override;

 private:
  modules::memory::Repository repository_;
};

}  // namespace runnel::app

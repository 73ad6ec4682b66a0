#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runnel/core/ids.h"
#include "runnel/store/rows.h"
#include "runnel/store/sql.h"

namespace runnel::store {

// A call to a tool of the client that has no result yet (AGUI-6).
struct OpenClientCall {
  ToolCallId call;
  std::string args;      // As they are shown, a JSON object.
  std::string metadata;  // Of the call's message.
  int mask = 0;          // Likewise; its result has the same.
};

// Reads what is known of calls to tools of clients. They are written with the messages of runs: opened by an
// append, and closed by the beginning of the thread's next run (`NewMessage`, `Begin`).
class ClientCalls {
 public:
  explicit ClientCalls(Sql& sql) : sql_{&sql} {}

  // The open calls of the thread, in the order in which they were made. Those of a run that is still active
  // are among them; they wait for an answer only if it ends as completed. Empty if the owner has no such
  // thread. `after_rollback`: also those that the active run has closed, which its rollback opens again.
  Async<std::vector<OpenClientCall>> open(UserId owner, ThreadId thread, bool after_rollback = false);

  // The role and the metadata of the thread's message with this id. Empty if there is none.
  struct Message {
    std::string role;
    std::string metadata;
  };
  Async<std::optional<Message>> message(UserId owner, ThreadId thread, std::string id);

  // The text of the thread's newest user message that its users see. Empty if there is none.
  Async<std::string> newest_user_text(UserId owner, ThreadId thread);

  // The calls that the beginning of this active run has closed.
  Async<std::vector<ToolCallId>> closed_by(ThreadKey thread, RunKey run);

 private:
  Sql* sql_;
};

}  // namespace runnel::store

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runnel/core/ids.h"
#include "runnel/store/sql.h"

namespace runnel::store {

enum class Decision { approved, rejected, expired };
char const* to_string(Decision decision);

// The answer of a user to the question whether a tool call may run.
struct ApprovalAnswer {
  UserId owner;
  ThreadId thread;
  ToolCallId call;
  Decision decision = Decision::rejected;
  std::string reason;     // For the model. Empty if there is none.
  std::string args_hash;  // What the user has seen. Empty if the user does not say.
  RunId alias;            // Under which the run shall go on (AGUI-4). If empty, it is `<run id>~2` and so on.
  std::int64_t now = 0;
};

struct AnswerOutcome {
  enum class Kind {
    accepted,         // The run is pending again and needs a writer.
    already_decided,  // By somebody else; `decision` is what stands.
    other_arguments,  // The question is about other arguments than those that the user has seen.
    alias_taken,      // The alias is the id of a run, or the alias of another pause.
    not_found,        // The owner has no such question, or its run does not wait for it.
  };
  Kind kind = Kind::not_found;
  RunKey run;
  Decision decision = Decision::rejected;
  RunId alias;  // Under which the run goes on, if there is a decision.
};

// What became of a question, for the run's next writer.
struct ApprovalState {
  std::optional<Decision> decision;  // Empty if the run goes on for another reason: it is being canceled.
  std::string reason;
  std::string args_hash;
  RunId alias;  // Under which the run goes on. Empty if it was woken by a version that kept no aliases.
};

// A question that waits for its user.
struct WaitingApproval {
  ThreadId thread;
  RunId run;
  ToolCallId call;
  std::string name;  // module.method
  std::string args;
  std::string args_hash;
  std::int64_t asked_at = 0;
  std::int64_t expires_at = 0;
};

// The questions that waiting runs have asked, and how those runs go on. Everything that makes a run go on
// also makes it pending in the same transaction, so that a run never waits for nothing; whoever did it claims
// the run, and after a crash recovery does.
class Approvals {
 public:
  explicit Approvals(Sql& sql) : sql_{&sql} {}

  // A decision is used once: of two at the same time one is accepted. The alias is written with the decision.
  Async<AnswerOutcome> answer(ApprovalAnswer answer);

  // Lets waiting runs go on whose time is over, or that are being canceled. Returns those runs, at most
  // `limit`.
  Async<std::vector<RunKey>> wake_due(std::int64_t now, std::size_t limit);

  // Runs that have begun and are pending: they go on as soon as somebody claims them. If nobody does for a
  // while, the answer to the write that made them pending was lost. At most `limit`.
  Async<std::vector<RunKey>> pending_again(std::size_t limit);

  // Lets the run go on if it waits and is being canceled. Returns whether it did.
  Async<bool> wake_canceled(RunKey run);

  // Fails with `not_found` if the run has not asked about this call.
  Async<ApprovalState> state(RunKey run, ToolCallId call);

  // For how long the run has waited in all, in milliseconds.
  Async<std::int64_t> waited(RunKey run);

  // The questions that wait for this user, over all threads, oldest first, at most `limit`.
  Async<std::vector<WaitingApproval>> waiting_for(UserId owner, std::size_t limit);

  // The question that waits on this thread: a thread has one active run, and that waits for one call at a
  // time. Empty if nothing waits.
  Async<std::optional<WaitingApproval>> waiting_on(UserId owner, ThreadId thread);

 private:
  Sql* sql_;
};

}  // namespace runnel::store

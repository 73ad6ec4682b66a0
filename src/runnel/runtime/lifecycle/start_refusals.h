#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runnel/core/ids.h"
#include "runnel/runtime/lifecycle/run_input.h"
#include "runnel/store/approvals.h"
#include "runnel/store/store.h"

// Why a run does not start, in words for its client.
namespace runnel::runtime {

// `what` is "flow" or "model"; `names` are the known ones.
Refusal unknown_name(std::string const& what, std::string const& name, std::vector<std::string> const& names);

Refusal draining_refusal();
Refusal too_many_runs(std::int64_t limit);
Refusal over_quota(std::int64_t used, std::int64_t limit);

// `active` is the run that the thread is busy with; empty if it is unknown.
Refusal thread_busy(RunId const& active);

Refusal run_id_conflict();

// `stands` is what was decided about the call.
Refusal already_decided(ToolCallId const& call, store::Decision stands);

// `waiting` is the interrupt that waits on the thread; empty if none does.
Refusal unknown_interrupt(std::string const& interrupt, std::optional<std::string> const& waiting);

// The tool message answers a call that does not wait for an answer.
Refusal not_pending(ToolCallId const& call);

// `name` is a tool of the client and of the server.
Refusal reserved_tool(std::string const& name);

// The client's answers together are longer than a message may be.
Refusal answers_too_large(std::size_t size, std::size_t limit);

// Says which budget is used up, its amounts and, if it resets, when. The amounts are those of calls that have
// ended; if these leave something, the rest is reserved by calls that are under way.
store::Async<Refusal> budget_refusal(store::Store* store, store::Budgets budgets, UserId owner,
                                     ThreadId thread);

}  // namespace runnel::runtime

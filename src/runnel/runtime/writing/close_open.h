#pragma once

#include <string>

#include "runnel/core/fact/fact.h"
#include "runnel/core/fact/fact_order.h"
#include "runnel/runtime/writing/commit.h"
#include "runnel/runtime/writing/message_rows.h"
#include "runnel/tools/tool.h"

// Commits that end the messages, tool calls and steps that are open in a run's log, so that every START has
// its END.
namespace runnel::runtime {

// The row of a text that ended before its model call did. It is written with the outcome of the call, so that
// the text of a call that is repeated leaves the model's context (RUN-14).
Commit keep_words(FactOrder const& order, TextOutcome outcome, int mask = kSeenByAll);

// Ends the open text and reasoning, and keeps the text that has ended. A superseded message is visible to
// nobody (RUN-14). `mask` is the mask of the other rows.
Commit close_said(FactOrder const& order, TextOutcome outcome, int mask = kSeenByAll);

// Ends the open text, reasoning and tool calls, so that the thread stays usable: a call without a result gets
// a failure with `code`. The step stays open.
Commit close_words(FactOrder const& order, TextOutcome outcome, std::string const& code,
                   int mask = kSeenByAll);

// Ends what a lost writer left open: texts are superseded, and calls whose arguments were still arriving fail
// with INTERRUPTED. A call that was asked for stays open, because the next writer continues with it (RUN-12).
Commit close_interrupted(FactOrder const& order);

// Ends a call that was shown and will not be made. No model sees it in its context.
Commit close_abandoned(FactOrder const& order, ToolCallId const& call, std::string const& code);

// Does what `close_words` does, and ends the step.
Commit close_all(FactOrder const& order, TextOutcome outcome, std::string const& code, int mask = kSeenByAll);

// Ends an open call with this outcome, and closes its row. For a run that is about to end.
Commit close_with(FactOrder const& order, ToolCallId const& call, tools::ToolOutcome const& outcome,
                  int mask);

}  // namespace runnel::runtime

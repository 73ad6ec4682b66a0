#pragma once

#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "runnel/core/fact.h"
#include "runnel/core/fact_order.h"
#include "runnel/model/usage_summary.h"
#include "runnel/runtime/commit_rows.h"

namespace runnel::runtime {

// Facts, and the rows they tell of, for one commit.
struct Closing {
  std::vector<Fact> facts;
  CommitRows rows;

  void add(Closing more) {
    std::move(more.facts.begin(), more.facts.end(), std::back_inserter(facts));
    rows.add(std::move(more.rows));
  }
};

// What a run's messages are seen by (RUN-9).
inline constexpr int kSeenByAll = store::kUiHistory | store::kContextAssembly;

// The row of words that ended before their model call did: it is written with what the call came to, so that
// those of a call that is made again leave the model's context (RUN-14).
Closing keep_words(FactOrder const& order, TextOutcome outcome, int mask = kSeenByAll);

// Ends the words that are open, and keeps those that had ended. A superseded message is seen by nobody any
// more (RUN-14). `mask` is that of the other rows.
Closing close_said(FactOrder const& order, TextOutcome outcome, int mask = kSeenByAll);

// Ends the words and tool calls that are open, so that every START has its END and the thread stays usable: a
// call without a result gets a failure with `code`. The step stays open.
Closing close_words(FactOrder const& order, TextOutcome outcome, std::string const& code,
                    int mask = kSeenByAll);

// What a writer that is gone left open: words and calls whose arguments were still arriving are superseded.
// A call that was asked for stays open: it is the next writer's to go on with (RUN-12).
Closing close_interrupted(FactOrder const& order);

// A call that was shown and will not be made: it is in nobody's context.
Closing close_abandoned(FactOrder const& order, ToolCallId const& call, std::string const& code);

// `close_words`, and the step.
Closing close_all(FactOrder const& order, TextOutcome outcome, std::string const& code,
                  int mask = kSeenByAll);

// The rows of a tool call and of its result (RUN-8). `more` is put into the metadata: members as JSON, each
// after a comma; may be empty.
store::NewMessage tool_call_row(MessageId id, ToolCallId const& call, std::string const& tool,
                                std::string const& stage, std::string args, int mask,
                                std::string const& more = {});
store::NewMessage tool_result_row(MessageId id, ToolCallId const& call, std::string const& tool,
                                  std::string const& stage, std::string result, int mask,
                                  std::string const& more = {});

// The row of an assistant's message. `status` goes into its metadata. It costs nothing until it is charged.
store::NewMessage assistant_row(MessageId id, std::string const& stage, std::string text,
                                std::string const& status);

// The row, for nobody's eyes, on which the calls of a stage that did not answer are booked (USE-8).
store::NewMessage audit_row(std::string const& stage, std::string text, std::string const& status);

// Puts what the row's calls cost on it, `usage_summary` with the model's name into its metadata.
void charge(store::NewMessage& row, model::UsageSummary const& summary, std::string const& provider,
            std::string const& model);

}  // namespace runnel::runtime

#pragma once

#include <string>
#include <vector>

#include "runnel/core/fact.h"
#include "runnel/core/fact_order.h"
#include "runnel/store/rows.h"

namespace runnel::runtime {

// Facts, and the rows they tell of, for one commit.
struct Closing {
  std::vector<Fact> facts;
  std::vector<store::NewMessage> rows;
};

// Ends the words and tool calls that are open, so that every START has its END and the thread stays usable: a
// call without a result gets a failure with `code`. A superseded message leaves the model's context, not the
// history (RUN-14). The step stays open.
Closing close_words(FactOrder const& order, TextOutcome outcome, std::string const& code);

// `close_words`, and the step.
Closing close_all(FactOrder const& order, TextOutcome outcome, std::string const& code);

// The row of an assistant's message. `status` goes into its metadata.
store::NewMessage assistant_row(MessageId id, std::string const& stage, std::string text,
                                std::string const& status, Usage const& usage);

}  // namespace runnel::runtime

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

// Ends the words and tool calls that are open, so that every START has its END and the thread stays usable: a
// call without a result gets a failure with `code`. A superseded message leaves the model's context, not the
// history (RUN-14). The step stays open.
Closing close_words(FactOrder const& order, TextOutcome outcome, std::string const& code);

// `close_words`, and the step.
Closing close_all(FactOrder const& order, TextOutcome outcome, std::string const& code);

// The row of an assistant's message. `status` goes into its metadata. It costs nothing until it is charged.
store::NewMessage assistant_row(MessageId id, std::string const& stage, std::string text,
                                std::string const& status);

// The row, for nobody's eyes, on which the calls of a stage that did not answer are booked (USE-8).
store::NewMessage audit_row(std::string const& stage, std::string text, std::string const& status);

// Puts what the row's calls cost on it, `usage_summary` with the model's name into its metadata.
void charge(store::NewMessage& row, model::UsageSummary const& summary, std::string const& provider,
            std::string const& model);

}  // namespace runnel::runtime

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "runnel/core/fact/fact.h"
#include "runnel/flow/output/live_object.h"

namespace runnel::runtime {

// Reads from the incomplete arguments of a project_cli call which method is going to be called, and what for
// (TASK-6): as soon as both module and method are complete, ToolPreparing; as soon as the intent is complete
// too, ToolIntent.
class CallPreview {
 public:
  // `index` is the number of the call in the model's answer, from 0.
  explicit CallPreview(std::size_t index);

  // Appends the facts that this piece of the arguments makes known.
  void feed(std::string_view piece, std::vector<Fact>& facts);

 private:
  [[nodiscard]] std::string text_of(std::string_view field) const;

  std::size_t index_;
  flow::LiveObject arguments_;
  std::string name_;  // module.method; empty before ToolPreparing.
  std::size_t read_ = 0;
  bool done_ = false;
};

}  // namespace runnel::runtime

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runnel/core/surrogates.h"
#include "runnel/model/chunk_reader.h"
#include "runnel/model/provider.h"

namespace runnel::model {

// Puts the tool calls of one answer together from their fragments, as servers really send them.
//
// A fragment belongs to the call of its index; without one, to that of its id; without either, to that of its
// position in the chunk, or, alone and without a name, to the call that grew last. A second id with a name
// under a used index is another call (some servers number every call 0). The first name and the first id of a
// call stand: empty ones never replace them, and nothing is appended to them.
class ToolCallAssembler {
 public:
  // Takes all fragments of a chunk and tells what there is to show. False: more calls or arguments than any
  // answer may have.
  bool add(std::vector<ToolCallDelta> fragments, std::vector<CallEvent>& events);

  // Shows what was held back. False: there are arguments for a call that was never named.
  bool finish(std::vector<CallEvent>& events);

  // The calls, each with a name, an id that no other one of them has, and arguments as the model wrote them,
  // `{}` where it wrote none. Whether they are JSON is for whoever executes them to see: a model that is told
  // what was wrong can try again. After `finish`.
  [[nodiscard]] std::vector<ToolCall> take();

 private:
  struct Part {
    ToolCall call;
    std::optional<std::int64_t> index;
    HalfJoiner halves;  // Of the arguments.
    bool shown = false;
  };

  Part* part_for(ToolCallDelta const& fragment, std::size_t position, bool alone);
  Part* part_by_index(ToolCallDelta const& fragment);
  Part* part_by_id(ToolCallDelta const& fragment);
  Part* part_by_position(ToolCallDelta const& fragment, std::size_t position, bool alone);
  Part* open(std::optional<std::int64_t> index);
  void extend(Part& part, ToolCallDelta fragment, std::vector<CallEvent>& events);
  void show(Part& part, std::vector<CallEvent>& events);
  [[nodiscard]] std::size_t number_of(Part const& part) const {
    return static_cast<std::size_t>(&part - parts_.data());
  }

  std::vector<Part> parts_;  // In the order of their first fragments.
  std::size_t grew_last_ = 0;
  std::size_t argument_bytes_ = 0;
};

}  // namespace runnel::model

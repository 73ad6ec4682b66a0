#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runnel/core/text/surrogates.h"
#include "runnel/model/openai/chunk_reader.h"
#include "runnel/model/provider.h"

namespace runnel::model {

// Assembles the tool calls of one answer from their fragments, as servers really send them.
//
// A fragment belongs to the call with its index. Without an index, it belongs to the call with its id.
// Without either, it belongs to the call at its position in the chunk or, if it is alone and has no name, to
// the call that grew last. A second id with a name under a used index begins another call (some servers
// number every call 0). The first name and the first id of a call are final: empty ones never replace them,
// and nothing is appended to them.
class ToolCallAssembler {
 public:
  // Takes all fragments of a chunk and appends what can be shown to `events`. False if there are more calls
  // or arguments than an answer may have.
  bool add(std::vector<ToolCallDelta> fragments, std::vector<CallEvent>& events);

  // Appends what was held back to `events`. False if there are arguments for a call without a name.
  bool finish(std::vector<CallEvent>& events);

  // The calls, each with a name, an id that is unique among them, and arguments as the model wrote them, or
  // `{}` if it wrote none. The code that executes a call must check whether its arguments are JSON: a model
  // that is told what was wrong can try again. To be called after `finish`.
  [[nodiscard]] std::vector<ToolCall> take();

 private:
  struct Part {
    ToolCall call;
    std::optional<std::int64_t> index;
    HalfJoiner halves;  // Joins characters of the arguments that fragments split.
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

#pragma once

#include <string>
#include <string_view>

#include "runnel/core/json_write.h"
#include "runnel/core/position.h"

namespace runnel::protocol {

// One SSE frame (SSE-1), appended to `out`: id, event, and one line of JSON that begins with `type`. The
// caller adds the further members to `json` and then calls `end`, once. `type` is a literal of the program.
class SseFrame {
 public:
  SseFrame(std::string& out, Position id, std::string_view type);

  void end();

  JsonObject json;

 private:
  std::string& out_;
};

}  // namespace runnel::protocol

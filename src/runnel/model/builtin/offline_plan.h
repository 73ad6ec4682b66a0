#pragma once

#include <string>
#include <variant>
#include <vector>

#include "runnel/model/builtin/offline_request.h"
#include "runnel/model/builtin/offline_results.h"

// What the offline model does next.
namespace runnel::model {

// A call of project_cli.
struct NextCall {
  std::string module;
  std::string method;
  std::string input;   // A JSON object.
  std::string intent;  // For the user, in a few words.
};

enum class ReplyStatus { success, partial, failed };
enum class ReplyKind { report, clarification, error, unknown };

struct Reply {
  ReplyStatus status = ReplyStatus::success;
  ReplyKind kind = ReplyKind::report;
  std::string text;
  std::string error;  // What went wrong. Empty if nothing did.
  std::vector<std::string> key_points;
};

using Step = std::variant<NextCall, Reply>;

// The next step for a request, after these results. It depends on nothing else. `words` is what the user
// wrote. A change is made only if exactly one event, invitation or contact is meant.
Step plan(Request const& request, std::string const& words, Moment const& moment,
          std::vector<ToolResult> const& results);

}  // namespace runnel::model

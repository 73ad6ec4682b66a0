#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runnel/core/money/call_usage.h"

namespace runnel::model {

// A fragment of a tool call as it came. A value that is absent or null is empty here.
struct ToolCallDelta {
  std::optional<std::int64_t> index;
  std::string id;
  std::string name;
  std::string arguments;
};

// An error in a provider's own words. A code that is a number is stored as its digits.
struct ProviderError {
  std::string message;
  std::string type;
  std::string code;
};

// The content of one event of the stream. All text is UTF-8 without U+0000, with one exception: text,
// reasoning and arguments may hold half of a surrogate pair, as LoneHalf::kept describes, whose other half is
// in another chunk.
struct Chunk {
  std::string text;
  std::string reasoning;
  std::vector<ToolCallDelta> tool_calls;
  std::string finish_reason;           // Empty if the model has not stopped.
  std::optional<ReportedUsage> usage;  // For the whole call so far.
  std::optional<ProviderError> error;
};

// Reads chunks of chat completions, and error bodies, which use the same keys. It runs for every token, so it
// builds no JSON tree.
class ChunkReader {
 public:
  ChunkReader();
  ChunkReader(ChunkReader const&) = delete;
  ChunkReader& operator=(ChunkReader const&) = delete;
  ~ChunkReader();

  // Replaces the content of `chunk`. Returns false if `json` is not a JSON object or its tool arguments are
  // not a text; then the content of `chunk` means nothing. Unknown keys are ignored.
  bool read(std::string_view json, Chunk& chunk);

 private:
  class Handler;
  class Parser;
  bool read_mended(std::string_view json, Chunk& chunk);

  std::unique_ptr<Parser> parser_;
  std::unique_ptr<Parser> lenient_;  // Accepts halves of surrogate pairs; made when the first one comes.
};

}  // namespace runnel::model

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runnel/core/call_usage.h"

namespace runnel::model {

// A fragment of a tool call as it came; what is absent, null or empty is empty here.
struct ToolCallDelta {
  std::optional<std::int64_t> index;
  std::string id;
  std::string name;
  std::string arguments;
};

// An error in a provider's own words. A code that is a number is its digits.
struct ProviderError {
  std::string message;
  std::string type;
  std::string code;
};

// What one event of the stream says. All text is UTF-8 without U+0000; but that text, reasoning and arguments
// may hold half of a surrogate pair, as LoneHalf::kept has it, whose other half is in another chunk.
struct Chunk {
  std::string text;
  std::string reasoning;
  std::vector<ToolCallDelta> tool_calls;
  std::string finish_reason;           // Empty: not yet.
  std::optional<ReportedUsage> usage;  // Of the whole call so far.
  std::optional<ProviderError> error;
};

// Reads chunks of chat completions, and error bodies, which use the same words. On the token path: it builds
// no tree.
class ChunkReader {
 public:
  ChunkReader();
  ChunkReader(ChunkReader const&) = delete;
  ChunkReader& operator=(ChunkReader const&) = delete;
  ~ChunkReader();

  // Into `chunk`, whatever it held. False: `json` is no JSON object, or its tool arguments are no text; then
  // `chunk` means nothing. Unknown keys are passed over.
  bool read(std::string_view json, Chunk& chunk);

 private:
  class Handler;
  class Parser;
  bool read_mended(std::string_view json, Chunk& chunk);

  std::unique_ptr<Parser> parser_;
  std::unique_ptr<Parser> lenient_;  // Takes halves of pairs; made when the first one comes.
};

}  // namespace runnel::model

#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runnel/core/text/surrogates.h"
#include "runnel/model/openai/chunk_reader.h"
#include "runnel/model/openai/think_tags.h"
#include "runnel/model/openai/tool_calls.h"
#include "runnel/model/openai/vendor.h"
#include "runnel/model/provider.h"
#include "runnel/model/redactor.h"
#include "runnel/net/sse_parser.h"

namespace runnel::model {

// Reads the body of a streamed chat completion: it turns bytes into events, without a socket or a clock.
class AnswerReader {
 public:
  explicit AnswerReader(std::shared_ptr<ProviderOptions const> options);

  // To be called when the head says that an answer comes: from then on, tokens may have been used.
  void accept() { accepted_ = true; }
  // Reads more of the body and appends the resulting events.
  void feed(std::string_view bytes, std::vector<CallEvent>& events);
  // To be called when the body has ended.
  void finish(std::vector<CallEvent>& events);
  // To be called when something else went wrong. Only the first failure counts.
  void fail(CallFailed failed);

  // Nothing that follows can change the answer: there was `[DONE]` or a failure.
  [[nodiscard]] bool is_over() const { return done_ || failed_.has_value(); }
  [[nodiscard]] bool has_failed() const { return failed_.has_value(); }
  // The model has said why it stopped, so a missing rest does no harm.
  [[nodiscard]] bool has_finish() const { return !finish_reason_.empty() && !failed_; }
  // How many events have come, without comments.
  [[nodiscard]] std::size_t payloads() const { return payloads_; }

  // Appends what was held back and the last event of all, CallFinished or CallFailed. To be called once.
  void end(std::vector<CallEvent>& events);

 private:
  enum class Form { unknown, stream, document };

  void find_form(std::string_view bytes);
  void take_events(std::vector<CallEvent>& events);
  void take_event(std::string_view data, std::vector<CallEvent>& events);
  void take_text(std::string text, std::vector<CallEvent>& events);
  void take_document();
  void fail_unless_finished(char const* why);
  static void add_reasoning(std::string text, std::vector<CallEvent>& events);
  void add_pieces(ThinkTags::Pieces pieces, std::vector<CallEvent>& events);
  void check_finish();
  [[nodiscard]] Finish finish_of(bool has_calls) const;

  std::shared_ptr<ProviderOptions const> options_;
  Redactor redact_;
  net::SseParser parser_;
  ChunkReader chunks_;
  Chunk chunk_;
  HalfJoiner text_halves_;
  HalfJoiner reasoning_halves_;
  ThinkTags think_tags_;
  ToolCallAssembler tool_calls_;
  Form form_ = Form::unknown;
  std::string document_;  // A body that is not a stream.
  std::string finish_reason_;
  ReportedUsage usage_;
  std::optional<CallFailed> failed_;
  std::size_t payloads_ = 0;
  bool accepted_ = false;
  bool ended_ = false;  // The stream's end has cut off what the parser still has.
  std::size_t shown_bytes_ = 0;
  bool done_ = false;
};

}  // namespace runnel::model

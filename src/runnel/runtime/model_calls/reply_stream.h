#pragma once

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runnel/base/cancel.h"
#include "runnel/core/error.h"
#include "runnel/core/fact/fact.h"
#include "runnel/flow/output/live_text.h"
#include "runnel/model/provider.h"
#include "runnel/runtime/model_calls/call_preview.h"
#include "runnel/runtime/model_calls/run_ledger.h"
#include "runnel/runtime/writing/commit.h"
#include "runnel/runtime/writing/run_writer.h"

namespace runnel::runtime {

// The model wrote more than it was allowed to, and was cut off.
struct OutputOverrun {};

// How an attempt ended that was not canceled.
using AttemptEnd = std::variant<model::CallFinished, model::CallFailed, OutputOverrun>;

// Compares what a model writes with the output that it is allowed, so that a model that exceeds its limit is
// cut off (USE-9). The count is an estimate, which is up to 50 % too high for some languages and for indented
// text. So an answer exceeds its limit only at twice the limit, and no provider that keeps to the limit is
// cut off.
class OutputLimit {
 public:
  explicit OutputLimit(std::int64_t most_tokens) : most_{most_tokens} {}  // 0 means no limit.

  void count(std::string_view text);
  [[nodiscard]] bool is_exceeded() const { return most_ > 0 && tenths_ > 20 * most_; }

 private:
  std::int64_t most_;
  std::int64_t tenths_ = 0;
};

// Which parts of a model's output the user sees while it arrives.
struct Showing {
  bool text = true;                      // The output as it is; ignored if `live` is set.
  std::function<flow::LiveText()> live;  // Makes the LiveText that finds the answer in an attempt.
  bool reasoning = true;
  bool tool_calls = false;
};

// A tool call that is shown while its arguments arrive.
struct ShownCall {
  ToolCallId id;
  MessageId message;
  std::string tool;
};

using ShownCalls = std::map<std::size_t, ShownCall>;  // By the call's number in the answer.

// Turns a model's answer into facts as its pieces arrive. The pieces of one read from the provider are shown
// together. If nothing of an attempt was shown, another attempt may follow; it writes the same message.
class ReplyStream {
 public:
  ReplyStream(std::shared_ptr<RunWriter> writer, std::string stage, Showing showing);

  // `most_output` is the number of tokens that the answer may have; 0 means no limit. The text message and
  // the tool calls may still be open at the end; the stage decides how they end. Fails if the attempt was
  // canceled or the run's writer can write no more.
  boost::asio::awaitable<Result<AttemptEnd>> run(std::unique_ptr<model::Call> call, std::int64_t most_output,
                                                 std::shared_ptr<base::Cancel> cancel);

  [[nodiscard]] MessageId const& message() const { return message_; }
  // Everything that the model wrote in the last attempt, and the part of it that was shown as text.
  [[nodiscard]] std::string const& output() const { return output_; }
  [[nodiscard]] std::string const& shown() const { return live_ ? shown_ : output_; }
  // Whether any part of the answer was shown: text, thoughts or a tool call.
  [[nodiscard]] bool has_shown() const { return text_begun_ || reasoning_begun_ || !calls_.empty(); }
  // Whether the live text turned out to be the output itself.
  [[nodiscard]] bool is_prose() const { return live_ && live_->is_prose(); }
  [[nodiscard]] std::string const& reasoning() const { return reasoning_; }
  [[nodiscard]] ShownCalls const& calls() const { return calls_; }
  // What the last attempt wrote, and how long its first piece took.
  [[nodiscard]] Said said() const;

 private:
  void add(model::TextPiece piece, Commit& batch);
  void add(model::ReasoningPiece piece, Commit& batch);
  void add(model::ToolCallPiece piece, Commit& batch);
  void add(model::CallFinished finished, Commit& batch);
  void add(model::CallFailed failed, Commit& batch);
  void begin_attempt(std::int64_t most_output);
  void note_first_piece();
  void show(std::string text, Commit& batch);
  void begin_reply(Commit& batch);
  void end_reasoning(Commit& batch);
  void begin_text(Commit& batch);
  void end_text(Commit& batch);
  ShownCall const& shown_call(model::ToolCallPiece const& piece, Commit& batch);

  std::shared_ptr<RunWriter> writer_;
  std::string stage_;
  Showing const showing_;
  std::optional<flow::LiveText> live_;
  MessageId const message_{mint_uuid()};
  MessageId const reasoning_message_{mint_uuid()};
  bool reply_begun_;
  bool text_begun_ = false;
  bool text_ended_ = false;
  bool reasoning_begun_ = false;
  bool reasoning_ended_ = false;
  std::string output_;
  std::string blanks_;  // Blank text that waits for the first word.
  std::string shown_;   // With live text only; else the output is shown.
  std::string reasoning_;
  std::string arguments_;  // Of all tool calls.
  ShownCalls calls_;
  std::map<std::size_t, CallPreview> previews_;  // Of the calls of project_cli.
  std::int64_t chunks_ = 0;
  std::chrono::steady_clock::time_point last_chunk_;
  std::chrono::steady_clock::time_point began_;
  std::optional<std::chrono::milliseconds> first_piece_;
  OutputLimit limit_{0};
  std::optional<AttemptEnd> end_;
};

// Makes the text valid UTF-8 without U+0000, so that whatever a model writes can be stored.
std::string storable(std::string text);

}  // namespace runnel::runtime

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
#include "runnel/core/fact.h"
#include "runnel/flow/live_text.h"
#include "runnel/model/provider.h"
#include "runnel/runtime/call_book.h"
#include "runnel/runtime/closing.h"
#include "runnel/runtime/run_writer.h"

namespace runnel::runtime {

// The model has written more than it was let write; it was cut off.
struct OutputOverrun {};

// How one attempt ended, where it was not cancelled.
using AttemptEnd = std::variant<model::CallFinished, model::CallFailed, OutputOverrun>;

// Counts what a model writes against the output that it was let have, so that one which does not keep to it
// is cut off (USE-9). The count is an estimate, half as much again for some languages and for indented text:
// an answer is over its limit where half of it is, so that no provider that keeps to the limit is cut off.
class OutputLimit {
 public:
  explicit OutputLimit(std::int64_t most_tokens) : most_{most_tokens} {}  // 0: there is none.

  void count(std::string_view text);
  [[nodiscard]] bool is_exceeded() const { return most_ > 0 && tenths_ > 2 * 10 * most_; }

 private:
  std::int64_t most_;
  std::int64_t tenths_ = 0;
};

// What of a model's output the user sees while it arrives.
struct Showing {
  bool text = true;                      // As it is; with `live` only that,
  std::function<flow::LiveText()> live;  // the answer in the output, as this finds it in an attempt.
  bool reasoning = true;
  bool tool_calls = false;
};

// A tool call that is shown while its arguments arrive.
struct ShownCall {
  ToolCallId id;
  MessageId message;
  std::string tool;
};

using ShownCalls = std::map<std::size_t, ShownCall>;  // By their number in the answer.

// Turns a model's answer into facts, as its pieces arrive. What one read of the upstream brought is shown in
// one go. An attempt of which nothing was shown may be followed by another; they are one message.
class ReplyStream {
 public:
  ReplyStream(std::shared_ptr<RunWriter> writer, std::string stage, Showing showing);

  // `most_output`: the tokens that the answer may have; 0: any number. The text message, and tool calls, are
  // still open at the end: what ends them is the stage's to say. Fails where the attempt was cancelled or the
  // run is no longer ours to write.
  boost::asio::awaitable<Result<AttemptEnd>> run(std::unique_ptr<model::Call> call, std::int64_t most_output,
                                                 std::shared_ptr<base::Cancel> cancel);

  [[nodiscard]] MessageId const& message() const { return message_; }
  // All that the model wrote in the last attempt, and what of it was shown as text.
  [[nodiscard]] std::string const& output() const { return output_; }
  [[nodiscard]] std::string const& shown() const { return live_ ? shown_ : output_; }
  // Whether anybody has seen anything of it: text, thoughts or a tool call.
  [[nodiscard]] bool has_shown() const { return text_begun_ || reasoning_begun_ || !calls_.empty(); }
  // Whether the live text was found to be the output itself.
  [[nodiscard]] bool is_prose() const { return live_ && live_->is_prose(); }
  [[nodiscard]] std::string const& reasoning() const { return reasoning_; }
  [[nodiscard]] ShownCalls const& calls() const { return calls_; }
  // What came, and how long the last attempt took to bring something.
  [[nodiscard]] Said said() const;

 private:
  void add(model::TextPiece piece, Closing& batch);
  void add(model::ReasoningPiece piece, Closing& batch);
  void add(model::ToolCallPiece piece, Closing& batch);
  void add(model::CallFinished finished, Closing& batch);
  void add(model::CallFailed failed, Closing& batch);
  void begin_attempt(std::int64_t most_output);
  void note_first_piece();
  void show(std::string text, Closing& batch);
  void begin_reply(Closing& batch);
  void end_reasoning(Closing& batch);
  void begin_text(Closing& batch);
  void end_text(Closing& batch);
  ShownCall const& shown_call(model::ToolCallPiece const& piece, Closing& batch);

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
  std::string blanks_;  // What came so far, where no word has.
  std::string shown_;   // With live text; else it is the output.
  std::string reasoning_;
  std::string arguments_;  // Of all tool calls.
  ShownCalls calls_;
  std::int64_t chunks_ = 0;
  std::chrono::steady_clock::time_point last_chunk_;
  std::chrono::steady_clock::time_point began_;
  std::optional<std::chrono::milliseconds> first_piece_;
  OutputLimit limit_{0};
  std::optional<AttemptEnd> end_;
};

// Valid UTF-8 without U+0000: what a model says must be storable whatever it says.
std::string storable(std::string text);

}  // namespace runnel::runtime

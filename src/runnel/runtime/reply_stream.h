#pragma once

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "runnel/base/cancel.h"
#include "runnel/core/error.h"
#include "runnel/core/fact.h"
#include "runnel/model/provider.h"
#include "runnel/runtime/call_book.h"
#include "runnel/runtime/run_writer.h"

namespace runnel::runtime {

// How one attempt ended, where it was not cut off by our side.
using AttemptEnd = std::variant<model::CallFinished, model::CallFailed>;

// Turns a model's answer into facts, as its pieces arrive. What one read of the upstream brought is shown in
// one go. An attempt that failed before its first piece may be followed by another; they are one message.
class ReplyStream {
 public:
  ReplyStream(std::shared_ptr<RunWriter> writer, std::string stage);

  // The text message is still open at the end: what ends it is the stage's to say. Fails where the attempt
  // was cancelled or the run is no longer ours to write.
  boost::asio::awaitable<Result<AttemptEnd>> run(std::unique_ptr<model::Call> call,
                                                 std::shared_ptr<base::Cancel> cancel);

  [[nodiscard]] MessageId const& message() const { return message_; }
  [[nodiscard]] std::string const& text() const { return text_; }
  // What was shown, and how long the last attempt took to show something.
  [[nodiscard]] Said said() const;

 private:
  void add(model::TextPiece piece, std::vector<Fact>& facts);
  void add(model::ReasoningPiece piece, std::vector<Fact>& facts);
  void add(model::ToolCallPiece piece, std::vector<Fact>& facts);
  void add(model::CallFinished finished, std::vector<Fact>& facts);
  void add(model::CallFailed failed, std::vector<Fact>& facts);
  void note_first_piece();
  void begin_reply(std::vector<Fact>& facts);
  void end_reasoning(std::vector<Fact>& facts);
  void begin_text(std::vector<Fact>& facts);

  std::shared_ptr<RunWriter> writer_;
  std::string stage_;
  MessageId const message_{mint_uuid()};
  MessageId const reasoning_message_{mint_uuid()};
  bool reply_begun_;
  bool text_begun_ = false;
  bool reasoning_begun_ = false;
  bool reasoning_ended_ = false;
  std::string text_;
  std::string reasoning_;
  std::int64_t chunks_ = 0;
  std::chrono::steady_clock::time_point last_chunk_;
  std::chrono::steady_clock::time_point began_;
  std::optional<std::chrono::milliseconds> first_piece_;
  std::optional<AttemptEnd> end_;
};

}  // namespace runnel::runtime

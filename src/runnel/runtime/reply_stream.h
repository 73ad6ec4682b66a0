#pragma once

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runnel/base/cancel.h"
#include "runnel/core/error.h"
#include "runnel/core/fact.h"
#include "runnel/model/provider.h"
#include "runnel/runtime/run_writer.h"

namespace runnel::runtime {

// A model's whole answer. The text message is still open: what ends it is the stage's to say.
struct ModelReply {
  MessageId message;
  std::string text;
  Usage usage;
};

// Turns one model call into facts, as its pieces arrive. What one read of the upstream brought is shown in
// one go.
class ReplyStream {
 public:
  ReplyStream(std::shared_ptr<RunWriter> writer, std::string stage);

  boost::asio::awaitable<Result<ModelReply>> run(std::unique_ptr<model::Call> call,
                                                 std::shared_ptr<base::Cancel> cancel);

 private:
  void add(model::TextPiece piece, std::vector<Fact>& facts);
  void add(model::ReasoningPiece piece, std::vector<Fact>& facts);
  void add(model::CallFinished finished, std::vector<Fact>& facts);
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
  std::optional<Usage> usage_;
};

}  // namespace runnel::runtime

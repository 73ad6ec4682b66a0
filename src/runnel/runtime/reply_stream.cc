#include "runnel/runtime/reply_stream.h"

#include <algorithm>
#include <utility>

#include "runnel/core/text.h"

namespace runnel::runtime {

namespace asio = boost::asio;

namespace {

// What a model says must be storable whatever it says: valid UTF-8 without U+0000.
std::string storable(std::string text) {
  bool const good = is_utf8(text) && text.find('\0') == std::string::npos;
  if (good) return text;
  auto valid = to_valid_utf8(text);
  for (std::size_t at = 0; (at = valid.find('\0', at)) != std::string::npos;)
    valid.replace(at, 1, "\uFFFD");
  return valid;
}

}  // namespace

ReplyStream::ReplyStream(std::shared_ptr<RunWriter> writer, std::string stage)
    : writer_{std::move(writer)}, stage_{std::move(stage)}, reply_begun_{writer_->order().replied()} {}

asio::awaitable<Result<AttemptEnd>> ReplyStream::run(std::unique_ptr<model::Call> call,
                                                     std::shared_ptr<base::Cancel> cancel) {
  began_ = std::chrono::steady_clock::now();
  first_piece_.reset();
  end_.reset();
  while (!end_) {
    auto events = co_await call->next(cancel);
    if (!events) co_return events.error();
    std::vector<Fact> facts;
    facts.reserve(events->size());
    for (auto& event : *events) {
      std::visit([&](auto& piece) { add(std::move(piece), facts); }, event);
    }
    Result<void> done;
    if (std::all_of(facts.begin(), facts.end(), is_delta)) {
      done = writer_->show(std::move(facts));
    } else {
      done = co_await writer_->commit(std::move(facts), {});
    }
    if (!done) co_return done.error();
  }
  co_return std::move(*end_);
}

Said ReplyStream::said() const {
  return {text_, reasoning_, first_piece_};
}

void ReplyStream::note_first_piece() {
  if (first_piece_) return;
  first_piece_ =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - began_);
}

void ReplyStream::add(model::TextPiece piece, std::vector<Fact>& facts) {
  if (piece.text.empty()) return;
  note_first_piece();
  piece.text = storable(std::move(piece.text));
  begin_text(facts);
  auto const now = std::chrono::steady_clock::now();
  auto const elapsed = std::chrono::duration_cast<std::chrono::microseconds>(now - last_chunk_).count();
  last_chunk_ = now;
  text_ += piece.text;
  facts.emplace_back(TextDelta{message_, std::move(piece.text), ++chunks_, elapsed});
}

void ReplyStream::add(model::ReasoningPiece piece, std::vector<Fact>& facts) {
  if (piece.text.empty()) return;
  note_first_piece();
  if (reasoning_ended_) {  // Thoughts after words are not shown, but they were paid for.
    reasoning_ += piece.text;
    return;
  }
  if (!reasoning_begun_) {
    reasoning_begun_ = true;
    begin_reply(facts);
    facts.emplace_back(ReasoningOpened{reasoning_message_});
    facts.emplace_back(ReasoningStarted{reasoning_message_});
  }
  piece.text = storable(std::move(piece.text));
  reasoning_ += piece.text;
  facts.emplace_back(ReasoningDelta{reasoning_message_, std::move(piece.text)});
}

// Nobody executes tools yet, and no tool is offered.
void ReplyStream::add(model::ToolCallPiece /*piece*/, std::vector<Fact>& /*facts*/) {
  note_first_piece();
}

void ReplyStream::add(model::CallFinished finished, std::vector<Fact>& facts) {
  begin_text(facts);  // An answer without a word is a message all the same.
  end_ = std::move(finished);
}

void ReplyStream::add(model::CallFailed failed, std::vector<Fact>& /*facts*/) {
  end_ = std::move(failed);
}

void ReplyStream::begin_reply(std::vector<Fact>& facts) {
  if (reply_begun_) return;
  reply_begun_ = true;
  facts.emplace_back(ReplyStarted{});
}

void ReplyStream::end_reasoning(std::vector<Fact>& facts) {
  if (!reasoning_begun_ || reasoning_ended_) return;
  reasoning_ended_ = true;
  facts.emplace_back(ReasoningEnded{reasoning_message_, reasoning_});
  facts.emplace_back(ReasoningClosed{reasoning_message_});
}

void ReplyStream::begin_text(std::vector<Fact>& facts) {
  if (text_begun_) return;
  text_begun_ = true;
  end_reasoning(facts);
  begin_reply(facts);
  facts.emplace_back(TextStarted{message_, stage_});
  last_chunk_ = std::chrono::steady_clock::now();
}

}  // namespace runnel::runtime

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

asio::awaitable<Result<ModelReply>> ReplyStream::run(std::unique_ptr<model::Call> call,
                                                     std::shared_ptr<base::Cancel> cancel) {
  while (!usage_) {
    auto events = co_await call->next(cancel);
    if (!events) co_return events.error();
    std::vector<Fact> facts;
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
  ModelReply reply;
  reply.message = message_;
  reply.text = std::move(text_);
  reply.usage = std::move(*usage_);
  co_return reply;
}

void ReplyStream::add(model::TextPiece piece, std::vector<Fact>& facts) {
  if (piece.text.empty()) return;
  piece.text = storable(std::move(piece.text));
  begin_text(facts);
  auto const now = std::chrono::steady_clock::now();
  auto const elapsed = std::chrono::duration_cast<std::chrono::microseconds>(now - last_chunk_).count();
  last_chunk_ = now;
  text_ += piece.text;
  facts.emplace_back(TextDelta{message_, std::move(piece.text), ++chunks_, elapsed});
}

void ReplyStream::add(model::ReasoningPiece piece, std::vector<Fact>& facts) {
  if (piece.text.empty() || reasoning_ended_) return;
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

void ReplyStream::add(model::CallFinished finished, std::vector<Fact>& facts) {
  begin_text(facts);  // An answer without a word is a message all the same.
  usage_ = std::move(finished.usage);
}

void ReplyStream::begin_reply(std::vector<Fact>& facts) {
  if (reply_begun_) return;
  reply_begun_ = true;
  facts.emplace_back(ReplyStarted{});
}

void ReplyStream::end_reasoning(std::vector<Fact>& facts) {
  if (!reasoning_begun_ || reasoning_ended_) return;
  reasoning_ended_ = true;
  facts.emplace_back(ReasoningEnded{reasoning_message_, std::move(reasoning_)});
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

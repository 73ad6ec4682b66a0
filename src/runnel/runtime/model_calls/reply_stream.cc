#include "runnel/runtime/model_calls/reply_stream.h"

#include <algorithm>
#include <utility>

#include "runnel/core/money/token_estimate.h"
#include "runnel/core/text/text.h"
#include "runnel/tools/tool.h"

namespace runnel::runtime {

namespace asio = boost::asio;

std::string storable(std::string text) {
  bool const good = is_utf8(text) && text.find('\0') == std::string::npos;
  if (good) return text;
  auto valid = to_valid_utf8(text);
  for (std::size_t at = 0; (at = valid.find('\0', at)) != std::string::npos;)
    valid.replace(at, 1, "\uFFFD");
  return valid;
}

void OutputLimit::count(std::string_view text) {
  if (most_ > 0) tenths_ += estimate_token_tenths(text);
}

ReplyStream::ReplyStream(std::shared_ptr<RunWriter> writer, std::string stage, Showing showing)
    : writer_{std::move(writer)},
      stage_{std::move(stage)},
      showing_{std::move(showing)},
      reply_begun_{writer_->order().replied()} {}

asio::awaitable<Result<AttemptEnd>> ReplyStream::run(std::unique_ptr<model::Call> call,
                                                     std::int64_t most_output,
                                                     std::shared_ptr<base::Cancel> cancel) {
  begin_attempt(most_output);
  while (!end_) {
    auto events = co_await call->next(cancel);
    if (!events) co_return events.error();
    Commit batch;
    batch.facts.reserve(events->size());
    for (auto& event : *events) {
      std::visit([&](auto& piece) { add(std::move(piece), batch); }, event);
    }
    Result<void> done;
    if (std::all_of(batch.facts.begin(), batch.facts.end(), is_delta)) {
      done = writer_->show(std::move(batch.facts));
      if (!writer_->has_room()) {
        auto const since = std::chrono::steady_clock::now();
        co_await writer_->wait_for_room();
        call->held_up(std::chrono::steady_clock::now() - since);
      }
    } else {
      auto const since = std::chrono::steady_clock::now();
      done = co_await writer_->commit(std::move(batch));
      call->held_up(std::chrono::steady_clock::now() - since);
    }
    if (!done) co_return done.error();
    if (!end_ && limit_.is_exceeded()) end_.emplace(OutputOverrun{});
  }
  co_return std::move(*end_);
}

// Nothing of an earlier attempt was shown, so nothing of it is kept.
void ReplyStream::begin_attempt(std::int64_t most_output) {
  began_ = std::chrono::steady_clock::now();
  first_piece_.reset();
  end_.reset();
  limit_ = OutputLimit{most_output};
  output_.clear();
  blanks_.clear();
  shown_.clear();
  reasoning_.clear();
  arguments_.clear();
  live_.reset();
  if (showing_.live) live_.emplace(showing_.live());
}

Said ReplyStream::said() const {
  return {output_, reasoning_, first_piece_, estimate_tokens(arguments_)};
}

void ReplyStream::note_first_piece() {
  if (first_piece_) return;
  first_piece_ =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - began_);
}

void ReplyStream::add(model::TextPiece piece, Commit& batch) {
  if (piece.text.empty()) return;
  note_first_piece();
  piece.text = storable(std::move(piece.text));
  limit_.count(piece.text);
  output_ += piece.text;
  if (live_) {
    show(live_->feed(piece.text), batch);
  } else if (showing_.text) {
    show(std::move(piece.text), batch);
  }
}

// Text after a tool call is not shown, because its message has ended. Blank text waits for a word: alone it
// is no message, neither before a tool call nor as an answer.
void ReplyStream::show(std::string text, Commit& batch) {
  if (text.empty() || text_ended_) return;
  if (!text_begun_) {
    blanks_ += text;
    if (is_blank(blanks_)) return;
    text = std::exchange(blanks_, {});
  }
  begin_text(batch);
  auto const now = std::chrono::steady_clock::now();
  auto const elapsed = std::chrono::duration_cast<std::chrono::microseconds>(now - last_chunk_).count();
  last_chunk_ = now;
  if (live_) shown_ += text;
  batch.facts.emplace_back(TextDelta{message_, std::move(text), ++chunks_, elapsed});
}

void ReplyStream::add(model::ReasoningPiece piece, Commit& batch) {
  if (piece.text.empty()) return;
  note_first_piece();
  piece.text = storable(std::move(piece.text));
  limit_.count(piece.text);
  reasoning_ += piece.text;
  // Thoughts after text are not shown, but they are paid for.
  if (!showing_.reasoning || reasoning_ended_ || text_begun_ || text_ended_) return;
  if (!reasoning_begun_) {
    reasoning_begun_ = true;
    begin_reply(batch);
    batch.facts.emplace_back(ReasoningOpened{reasoning_message_});
    batch.facts.emplace_back(ReasoningStarted{reasoning_message_});
  }
  batch.facts.emplace_back(ReasoningDelta{reasoning_message_, std::move(piece.text)});
}

void ReplyStream::add(model::ToolCallPiece piece, Commit& batch) {
  note_first_piece();
  limit_.count(piece.arguments);
  arguments_ += piece.arguments;
  if (!showing_.tool_calls) return;
  if (calls_.empty()) {
    if (live_) show(live_->finish(), batch);
    end_reasoning(batch);
    end_text(batch);
  }
  auto const& call = shown_call(piece, batch);
  auto arguments = storable(std::move(piece.arguments));
  if (arguments.empty()) return;
  auto const preview = previews_.find(piece.index);
  if (preview != previews_.end()) preview->second.feed(arguments, batch.facts);
  batch.facts.emplace_back(ToolArgsDelta{call.id, std::move(arguments)});
}

ShownCall const& ReplyStream::shown_call(model::ToolCallPiece const& piece, Commit& batch) {
  auto const [at, fresh] = calls_.try_emplace(piece.index);
  auto& call = at->second;
  if (!fresh) return call;
  call.id = ToolCallId{"call_" + mint_uuid()};
  call.message = MessageId{mint_uuid()};
  call.tool = storable(piece.name);
  batch.facts.emplace_back(ToolCallStarted{call.message, call.id, call.tool, stage_});
  if (call.tool == tools::kProjectCli) previews_.try_emplace(piece.index, piece.index);
  return call;
}

void ReplyStream::add(model::CallFinished finished, Commit& batch) {
  if (live_) show(live_->finish(), batch);
  end_ = std::move(finished);
}

void ReplyStream::add(model::CallFailed failed, Commit& /*batch*/) {
  end_ = std::move(failed);
}

void ReplyStream::begin_reply(Commit& batch) {
  if (reply_begun_) return;
  reply_begun_ = true;
  batch.facts.emplace_back(ReplyStarted{});
}

void ReplyStream::end_reasoning(Commit& batch) {
  if (!reasoning_begun_ || reasoning_ended_) return;
  reasoning_ended_ = true;
  batch.facts.emplace_back(ReasoningEnded{reasoning_message_, reasoning_});
  batch.facts.emplace_back(ReasoningClosed{reasoning_message_});
}

void ReplyStream::begin_text(Commit& batch) {
  if (text_begun_) return;
  text_begun_ = true;
  end_reasoning(batch);
  begin_reply(batch);
  batch.facts.emplace_back(TextStarted{message_, stage_});
  last_chunk_ = std::chrono::steady_clock::now();
}

// The text before a tool call is a message of its own. Its row is written when the outcome of the model call
// is known (keep_words).
void ReplyStream::end_text(Commit& batch) {
  text_ended_ = true;
  if (!text_begun_) return;
  batch.facts.emplace_back(TextEnded{message_, stage_, shown(), TextOutcome::complete});
}

}  // namespace runnel::runtime

#include "runnel/model/openai/answer_reader.h"

#include <utility>

#include "runnel/model/failures.h"

namespace runnel::model {
namespace {

constexpr std::size_t kMaxDocument = std::size_t{64} * 1024;
// No real answer is as long. There is a limit because the answer is kept in memory.
constexpr std::size_t kMaxStream = std::size_t{256} * 1024 * 1024;

}  // namespace

AnswerReader::AnswerReader(std::shared_ptr<ProviderOptions const> options)
    : options_{std::move(options)}, redact_{options_->api_key} {
  if (!options_->vendor.think_tags) think_tags_.disable();
}

void AnswerReader::feed(std::string_view bytes, std::vector<CallEvent>& events) {
  if (is_over()) return;
  if (form_ == Form::unknown) find_form(bytes);
  if (form_ == Form::document) {
    document_ += bytes.substr(0, kMaxDocument - document_.size());
    return;
  }
  bool const readable = parser_.feed(bytes);
  take_events(events);
  if (!readable) fail_unless_finished("an event of the stream is too long");
  shown_bytes_ += bytes.size();
  if (shown_bytes_ > kMaxStream) fail(make_failure(Failure::bad_answer, "the stream is too long"));
}

// Once the model has said why it stopped, the answer is complete, whatever comes after it.
void AnswerReader::fail_unless_finished(char const* why) {
  if (finish_reason_.empty()) {
    fail(make_failure(Failure::bad_answer, why));
  } else {
    done_ = true;
  }
}

void AnswerReader::finish(std::vector<CallEvent>& events) {
  if (is_over()) return;
  if (form_ == Form::document) {
    take_document();
    return;
  }
  bool const readable = parser_.finish();
  ended_ = true;
  take_events(events);
  if (!readable) fail_unless_finished("an event of the stream is too long");
  if (!is_over() && finish_reason_.empty())
    fail(make_failure(Failure::cut, "the stream ended before the answer was complete"));
}

void AnswerReader::fail(CallFailed failed) {
  if (!failed_) failed_ = std::move(failed);
}

void AnswerReader::end(std::vector<CallEvent>& events) {
  if (usage_.cost && usage_.cost_currency.empty()) usage_.cost_currency = options_->vendor.cost_currency;
  if (auto rest = reasoning_halves_.finish(); !rest.empty()) add_reasoning(std::move(rest), events);
  if (auto rest = text_halves_.finish(); !rest.empty()) take_text(std::move(rest), events);
  add_pieces(think_tags_.finish(), events);
  if (!failed_) check_finish();
  if (!failed_ && !tool_calls_.finish(events))
    fail(make_failure(Failure::bad_answer, "a tool call without a name"));
  if (failed_) {
    failed_->accepted = accepted_;
    failed_->usage = std::move(usage_);
    events.emplace_back(std::move(*failed_));
    return;
  }
  CallFinished finished;
  auto calls = tool_calls_.take();
  finished.finish = finish_of(!calls.empty());
  if (finished.finish == Finish::tool_calls) finished.tool_calls = std::move(calls);
  finished.usage = std::move(usage_);
  events.emplace_back(std::move(finished));
}

// A gateway's page or a JSON document instead of the stream is recognized by its first byte, because its
// content type is not reliable.
void AnswerReader::find_form(std::string_view bytes) {
  auto const begin = bytes.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return;
  form_ = bytes[begin] == '{' ? Form::document : Form::stream;
  if (form_ == Form::document || bytes[begin] == '<') accepted_ = false;
  if (bytes[begin] == '<') fail(make_failure(Failure::bad_answer, "an HTML page instead of a stream"));
}

void AnswerReader::take_events(std::vector<CallEvent>& events) {
  std::string_view data;
  while (!is_over() && parser_.next(data))
    take_event(data, events);
}

void AnswerReader::take_event(std::string_view data, std::vector<CallEvent>& events) {
  if (data.empty()) return;
  ++payloads_;
  if (data.starts_with("[DONE]")) {
    done_ = true;
    return;
  }
  if (!chunks_.read(data, chunk_)) {
    // A last event without its blank line was cut off.
    if (!ended_) fail_unless_finished("an event of the stream is malformed");
    return;
  }
  if (chunk_.usage) usage_ = std::move(*chunk_.usage);
  if (chunk_.error) {
    if (payloads_ == 1) accepted_ = false;  // It came instead of an answer.
    fail(read_reported(*chunk_.error, options_->vendor, redact_));
    return;
  }
  reasoning_halves_.join(chunk_.reasoning);
  text_halves_.join(chunk_.text);
  if (!chunk_.reasoning.empty()) {
    think_tags_.disable();
    add_reasoning(std::move(chunk_.reasoning), events);
  }
  if (!chunk_.text.empty()) take_text(std::move(chunk_.text), events);
  if (!chunk_.tool_calls.empty() && !tool_calls_.add(std::move(chunk_.tool_calls), events))
    fail(make_failure(Failure::bad_answer, "more tool calls or arguments than an answer may have"));
  if (!chunk_.finish_reason.empty()) finish_reason_ = std::move(chunk_.finish_reason);
}

void AnswerReader::take_text(std::string text, std::vector<CallEvent>& events) {
  add_pieces(think_tags_.feed(std::move(text)), events);
}

void AnswerReader::take_document() {
  Chunk chunk;
  if (chunks_.read(document_, chunk) && chunk.error) {
    fail(read_reported(*chunk.error, options_->vendor, redact_));
  } else {
    fail(make_failure(Failure::bad_answer, "a document instead of a stream"));
  }
}

// The text of one read from the provider becomes one piece: it is shown at once in any case, and each piece
// costs every reader a frame.
void AnswerReader::add_pieces(ThinkTags::Pieces pieces, std::vector<CallEvent>& events) {
  if (!pieces.reasoning.empty()) add_reasoning(std::move(pieces.reasoning), events);
  if (pieces.text.empty()) return;
  if (auto* const last = events.empty() ? nullptr : std::get_if<TextPiece>(&events.back())) {
    last->text += pieces.text;
  } else {
    events.emplace_back(TextPiece{std::move(pieces.text)});
  }
}

void AnswerReader::add_reasoning(std::string text, std::vector<CallEvent>& events) {
  if (auto* const last = events.empty() ? nullptr : std::get_if<ReasoningPiece>(&events.back())) {
    last->text += text;
  } else {
    events.emplace_back(ReasoningPiece{std::move(text)});
  }
}

// Some servers report with the finish reason that the answer is incomplete.
void AnswerReader::check_finish() {
  if (finish_reason_ == "insufficient_system_resource")
    fail(make_failure(Failure::overloaded, "the provider ran out of resources"));
  if (finish_reason_ == "abort" || finish_reason_ == "error")
    fail(make_failure(Failure::cut, "the provider aborted the answer"));
}

// A server that was told which tool to call may say `stop`, so it only counts whether there are calls. Calls
// that were cut short by the limit or by moderation must not be executed.
Finish AnswerReader::finish_of(bool has_calls) const {
  if (finish_reason_ == "length") return Finish::length;
  if (finish_reason_ == "content_filter") return Finish::content_filter;
  return has_calls ? Finish::tool_calls : Finish::stop;
}

}  // namespace runnel::model

#include "bench/edges/answer_reader.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <stdexcept>
#include <system_error>

namespace runnel::bench {

namespace {

std::size_t parse_number(std::string_view text, int base) {
  std::size_t number = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc{} || end == text.data()) throw std::runtime_error{"bad number in the answer"};
  return number;
}

std::string lower(std::string_view text) {
  std::string out{text};
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

}  // namespace

void Search::feed(std::string_view piece) {
  if (text_.empty()) return;
  tail_ += piece;
  std::size_t at = 0;
  for (std::size_t hit = 0; (hit = tail_.find(text_, at)) != std::string::npos; at = hit + text_.size())
    ++found_;
  auto const kept = std::min(tail_.size() - at, text_.size() - 1);
  tail_.erase(0, tail_.size() - kept);
}

void AnswerReader::feed(std::string_view bytes) {
  buffer_.erase(0, at_);
  at_ = 0;
  buffer_ += bytes;
  while (!whole_ && (step_ == Step::head ? read_head() : read_body())) {
  }
}

bool AnswerReader::read_head() {
  auto const end = buffer_.find("\r\n\r\n");
  if (end == std::string::npos) return false;
  auto const head = lower(std::string_view{buffer_}.substr(0, end + 2));
  if (!head.starts_with("http/1.1 ")) throw std::runtime_error{"the answer is not HTTP/1.1"};
  status_ = static_cast<int>(parse_number(std::string_view{head}.substr(9), 10));
  at_ = end + 4;
  constexpr std::string_view kLength = "\r\ncontent-length: ";
  if (status_ == 101) {
    step_ = Step::upgraded;
  } else if (head.find("\r\ntransfer-encoding: chunked\r\n") != std::string::npos) {
    step_ = Step::chunk_size;
  } else if (auto const length = head.find(kLength); length != std::string::npos) {
    left_ = parse_number(std::string_view{head}.substr(length + kLength.size()), 10);
    step_ = Step::counted_body;
    whole_ = left_ == 0;
  } else {
    throw std::runtime_error{"the answer has neither a length nor chunks"};
  }
  return true;
}

bool AnswerReader::read_line(std::string_view& line) {
  auto const end = buffer_.find("\r\n", at_);
  if (end == std::string::npos) return false;
  line = std::string_view{buffer_}.substr(at_, end - at_);
  at_ = end + 2;
  return true;
}

// False if it needs more bytes.
bool AnswerReader::read_body() {
  std::string_view line;
  switch (step_) {
    case Step::head:
      return false;
    case Step::counted_body:
    case Step::chunk_data: {
      auto const piece = std::string_view{buffer_}.substr(at_, left_);
      if (piece.empty()) return false;
      take(piece);
      if (left_ == 0 && step_ == Step::counted_body) whole_ = true;
      if (left_ == 0) step_ = Step::chunk_end;
      return true;
    }
    case Step::upgraded: {
      auto const piece = std::string_view{buffer_}.substr(at_);
      left_ = piece.size();
      if (!piece.empty()) take(piece);
      return false;
    }
    case Step::chunk_end:
      if (!read_line(line)) return false;
      step_ = Step::chunk_size;
      return true;
    case Step::chunk_size:
      if (!read_line(line)) return false;
      left_ = parse_number(line, 16);
      step_ = left_ == 0 ? Step::trailer : Step::chunk_data;
      return true;
    case Step::trailer:
      if (!read_line(line)) return false;
      whole_ = line.empty();
      return true;
  }
  return false;
}

void AnswerReader::take(std::string_view piece) {
  until_.feed(piece);
  count_.feed(piece);
  body_bytes_ += piece.size();
  at_ += piece.size();
  left_ -= piece.size();
}

}  // namespace runnel::bench

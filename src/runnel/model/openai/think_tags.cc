#include "runnel/model/openai/think_tags.h"

#include <algorithm>
#include <utility>

namespace runnel::model {
namespace {

constexpr std::string_view kOpen = "<think>";
constexpr std::string_view kClose = "</think>";
constexpr std::string_view kSpace = " \t\r\n";

// How many bytes at the end of `text` may be the beginning of `tag`.
std::size_t partial_tag(std::string_view text, std::string_view tag) {
  auto length = std::min(text.size(), tag.size() - 1);
  while (!text.ends_with(tag.substr(0, length)))
    --length;
  return length;
}

}  // namespace

ThinkTags::Pieces ThinkTags::feed(std::string text) {
  Pieces pieces;
  if (state_ == State::passing && held_.empty()) {
    pieces.text = std::move(text);
    return pieces;
  }
  held_ += text;
  if (state_ == State::before) read_before();
  if (state_ == State::inside) read_inside(pieces);
  if (state_ == State::behind) read_behind();
  if (state_ == State::passing) pieces.text += std::exchange(held_, {});
  return pieces;
}

ThinkTags::Pieces ThinkTags::finish() {
  Pieces pieces;
  auto& held = state_ == State::inside ? pieces.reasoning : pieces.text;
  held = std::exchange(held_, {});
  state_ = State::passing;
  return pieces;
}

void ThinkTags::disable() {
  if (state_ == State::before) state_ = State::passing;
}

void ThinkTags::read_before() {
  auto const begin = held_.find_first_not_of(kSpace);
  if (begin == std::string::npos) return;
  auto const text = std::string_view{held_}.substr(begin);
  if (text.starts_with(kOpen)) {
    held_.erase(0, begin + kOpen.size());
    state_ = State::inside;
  } else if (!kOpen.starts_with(text)) {
    state_ = State::passing;
  }
}

void ThinkTags::read_inside(Pieces& pieces) {
  auto const close = held_.find(kClose);
  bool const closed = close != std::string::npos;
  auto const length = closed ? close : held_.size() - partial_tag(held_, kClose);
  pieces.reasoning += held_.substr(0, length);
  held_.erase(0, closed ? length + kClose.size() : length);
  if (closed) state_ = State::behind;
}

void ThinkTags::read_behind() {
  auto const begin = held_.find_first_not_of(kSpace);
  held_.erase(0, std::min(begin, held_.size()));
  if (!held_.empty()) state_ = State::passing;
}

}  // namespace runnel::model

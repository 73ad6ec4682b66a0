#include "runnel/flow/output/object_finder.h"

#include "runnel/flow/output/json_blank.h"

namespace runnel::flow {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kFence = "```";
// A longer text before the brace is not the opening of a code fence.
constexpr std::size_t kLongestOpening = 64;

bool may_begin_value(char c) {
  return std::string_view{"\"{[-0123456789tfn"}.find(c) != std::string_view::npos;
}

bool is_language_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' || c == '-' ||
         c == '_' || c == '.';
}

void skip_all(std::string_view& text, bool (*belongs)(char)) {
  while (!text.empty() && belongs(text.front()))
    text.remove_prefix(1);
}

bool skip(std::string_view& text, std::string_view start) {
  if (!text.starts_with(start)) return false;
  text.remove_prefix(start.size());
  return true;
}

}  // namespace

void ObjectFinder::feed(std::string_view piece) {
  if (state_ == State::list) return;
  held_ += piece;
  if (state_ == State::found) return;
  while (state_ == State::searching && at_ < held_.size())
    step(held_[at_++]);
  drop_words();
}

void ObjectFinder::finish() {
  if (state_ != State::searching) return;
  bool const has_key = place_ != Place::words && place_ != Place::bracket && place_ != Place::brace;
  if (has_key || (place_ == Place::brace && is_at_beginning())) state_ = State::found;
}

void ObjectFinder::step(char c) {
  if (place_ == Place::words) return step_in_words(c);
  if (place_ == Place::key || place_ == Place::escape) return step_in_key(c);
  if (is_json_blank(c)) return;
  if (place_ == Place::bracket) return step_after_bracket(c);
  if (place_ == Place::brace) return step_after_brace(c);
  if (place_ == Place::colon && c == ':') {
    place_ = Place::value;
  } else if (place_ == Place::value && may_begin_value(c)) {
    state_ = State::found;
  } else {
    give_up();
  }
}

void ObjectFinder::step_in_words(char c) {
  if (c == '{') {
    begin(Place::brace);
  } else if (c == '[' && is_at_beginning()) {
    begin(Place::bracket);
  } else {
    note_word(c);
  }
}

void ObjectFinder::step_after_bracket(char c) {
  if (c == '{') {
    state_ = State::list;
  } else {
    give_up();
  }
}

void ObjectFinder::step_after_brace(char c) {
  if (c == '"') {
    place_ = Place::key;
  } else if (c == '}' && is_at_beginning()) {
    state_ = State::found;
  } else {
    give_up();
  }
}

void ObjectFinder::step_in_key(char c) {
  if (static_cast<unsigned char>(c) < 0x20) return give_up();
  if (place_ == Place::escape) {
    place_ = Place::key;
  } else if (c == '\\') {
    place_ = Place::escape;
  } else if (c == '"') {
    place_ = Place::colon;
  }
}

void ObjectFinder::begin(Place place) {
  begin_ = at_ - 1;
  place_ = place;
}

void ObjectFinder::give_up() {
  has_words_ = true;
  place_ = Place::words;
  at_ = begin_ + 1;
}

void ObjectFinder::note_word(char c) {
  if (has_words_) return;
  if (is_json_blank(c) && (opening_.empty() || is_json_blank(opening_.back()))) return;
  opening_ += c;
  has_words_ = opening_.size() > kLongestOpening;
}

void ObjectFinder::drop_words() {
  auto const words = state_ == State::list || place_ == Place::words ? at_ : begin_;
  held_.erase(0, words);
  dropped_ += words;
  at_ -= words;
  begin_ = 0;
}

bool ObjectFinder::is_at_beginning() const {
  if (has_words_) return false;
  std::string_view rest = opening_;
  skip(rest, kByteOrderMark);
  skip_all(rest, is_json_blank);
  if (skip(rest, kFence)) {
    skip_all(rest, is_json_blank);
    skip_all(rest, is_language_char);
    skip_all(rest, is_json_blank);
  }
  return rest.empty();
}

}  // namespace runnel::flow

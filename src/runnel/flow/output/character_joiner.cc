#include "runnel/flow/output/character_joiner.h"

#include <cstddef>

#include "runnel/core/text/text.h"

namespace runnel::flow {
namespace {

constexpr std::size_t kMostBytes = 4;  // In one character.

std::size_t complete_length(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size() && text[at] != '\0') {
    auto const length = utf8_sequence(text, at);
    if (length == 0) break;
    at += length;
  }
  return at;
}

}  // namespace

void CharacterJoiner::feed(std::string_view piece, std::string& out) {
  if (broken_) return;
  rest_ += piece;
  auto const length = complete_length(rest_);
  out.append(rest_, 0, length);
  rest_.erase(0, length);
  broken_ = rest_.size() >= kMostBytes || rest_.starts_with('\0');
}

}  // namespace runnel::flow

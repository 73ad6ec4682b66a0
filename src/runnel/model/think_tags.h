#pragma once

#include <string>
#include <string_view>

namespace runnel::model {

// Tells the reasoning that some local servers leave in the text, `<think>…</think>` at its very beginning,
// from the text itself, however it is split. Any later tag is text.
class ThinkTags {
 public:
  struct Pieces {
    std::string reasoning;
    std::string text;
  };

  // What of the text so far can be told apart.
  Pieces feed(std::string text);
  // What was held back because it could have become a tag.
  Pieces finish();
  // Nothing more is taken for reasoning: it has a field of its own.
  void disable();

 private:
  enum class State { before, inside, behind, passing };

  void read_before();
  void read_inside(Pieces& pieces);
  void read_behind();

  State state_ = State::before;
  std::string held_;
};

}  // namespace runnel::model

#pragma once

#include <string>
#include <string_view>

namespace runnel::model {

// Separates the reasoning that some local servers leave in the text, as `<think>…</think>` at its very
// beginning, from the text itself, however it is split. Any later tag is text.
class ThinkTags {
 public:
  struct Pieces {
    std::string reasoning;
    std::string text;
  };

  // Returns what can be separated so far.
  Pieces feed(std::string text);
  // Returns what was held back because it could have become a tag.
  Pieces finish();
  // To be called if the reasoning does not come in tags: a tag that has not begun yet is text.
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

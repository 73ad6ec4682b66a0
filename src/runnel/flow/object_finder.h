#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace runnel::flow {

// Finds where a model's output has its JSON object, while the output is still being written. The object
// begins at the first brace after which, blanks aside, come a key, a colon and the first byte of a value;
// from there on it is the output's object, whether it turns out to be whole and valid or not. Other braces
// are words, as are code fences. At the output's very beginning (blanks, a byte order mark and the opening of
// a code fence aside)
// `{}` is an object too, and a list that begins with a brace is a list of objects: then there is none to
// find.
//
// What it finds does not depend on how the output is cut. The time it takes is linear: a brace that turned
// out to be a word is gone back to, but a key can hide no more than one beginning of another object.
class ObjectFinder {
 public:
  enum class State {
    searching,
    found,
    list,  // There will be none.
  };

  void feed(std::string_view piece);
  // The output is complete: an object that was cut off in its first key counts as found.
  void finish();

  [[nodiscard]] State state() const { return state_; }
  // Whether the last bytes may be the beginning of an object or of a list of them.
  [[nodiscard]] bool is_tempted() const { return place_ != Place::words; }
  // Where found: the bytes of the object's brace and of all that has come after it.
  [[nodiscard]] std::string& object() { return held_; }
  // Where found: how many bytes came before its brace.
  [[nodiscard]] std::size_t offset() const { return dropped_; }

 private:
  enum class Place { words, bracket, brace, key, escape, colon, value };

  void step(char c);
  void step_in_words(char c);
  void step_after_bracket(char c);
  void step_after_brace(char c);
  void step_in_key(char c);
  void begin(Place place);
  void give_up();
  void note_word(char c);
  void drop_words();
  [[nodiscard]] bool is_at_beginning() const;

  State state_ = State::searching;
  Place place_ = Place::words;
  std::string held_;         // What may become an object, and what is to be read.
  std::size_t at_ = 0;       // The next byte of it.
  std::size_t begin_ = 0;    // The brace or bracket that may begin something, outside of words.
  std::size_t dropped_ = 0;  // How many bytes came before it.
  std::string opening_;      // The words before the first brace or bracket; runs of blanks are one.
  bool has_words_ = false;   // More came than may stand before an output's beginning.
};

}  // namespace runnel::flow

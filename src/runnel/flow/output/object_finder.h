#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace runnel::flow {

// Finds the JSON object in a model's output while the output is still being written. The object begins at the
// first brace that is followed, ignoring blanks, by a key, a colon and the first byte of a value. From there
// on it is the output's object, whether it turns out to be complete and valid or not. Other braces are words,
// and so are code fences. At the very beginning of the output (ignoring blanks, a byte order mark and the
// opening of a code fence), `{}` is an object too, and a list whose first element begins with a brace is a
// list of objects: then there is no object to find.
//
// The result does not depend on how the output is cut. The time is linear: the search goes back to a brace
// that turned out to be a word, but a key can hide at most one beginning of another object.
class ObjectFinder {
 public:
  enum class State {
    searching,
    found,
    list,  // A list of objects: there is no object to find.
  };

  void feed(std::string_view piece);
  // To be called when the output is complete. An object that is cut off before its first value counts as
  // found.
  void finish();

  [[nodiscard]] State state() const { return state_; }
  // Whether the last bytes may be the beginning of an object or of a list of objects.
  [[nodiscard]] bool is_tempted() const { return place_ != Place::words; }
  // If found: the object's brace and all bytes that have come after it.
  [[nodiscard]] std::string& object() { return held_; }
  // If found: how many bytes came before its brace.
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
  std::string held_;         // Bytes that may belong to an object, and bytes that are not read yet.
  std::size_t at_ = 0;       // The next byte of held_ to read.
  std::size_t begin_ = 0;    // The brace or bracket that may begin an object or a list; unused in words.
  std::size_t dropped_ = 0;  // How many bytes came before held_.
  std::string opening_;      // The words before the first brace or bracket; a run of blanks counts as one.
  bool has_words_ = false;   // More has come than may precede the output's beginning.
};

}  // namespace runnel::flow

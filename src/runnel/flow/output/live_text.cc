#include "runnel/flow/output/live_text.h"

#include <cstddef>
#include <utility>

#include "runnel/flow/output/character_joiner.h"
#include "runnel/flow/output/json_blank.h"
#include "runnel/flow/output/live_object.h"
#include "runnel/flow/output/object_finder.h"

namespace runnel::flow {

class LiveText::Reader {
 public:
  Reader(std::string field, Gate gate, bool prose)
      : object_{std::move(field), std::move(gate)}, place_{prose ? Place::undecided : Place::before_object} {}

  std::string feed(std::string_view piece);
  std::string finish();
  [[nodiscard]] bool is_prose() const { return place_ == Place::prose; }

 private:
  enum class Place { undecided, before_object, object, prose, nothing };

  void search(std::string_view piece, std::string& shown);
  void decide(std::string_view piece, std::string& shown);
  void take_word(char c);
  void take_as_prose(std::string& shown);
  [[nodiscard]] bool is_surely_prose() const;

  ObjectFinder finder_;
  LiveObject object_;
  CharacterJoiner prose_;
  Place place_;
  std::string words_;        // All bytes so far, while it is undecided.
  std::size_t counted_ = 0;  // How many of them, from the first that is not a blank.
  bool early_fence_ = false;
};

std::string LiveText::Reader::feed(std::string_view piece) {
  std::string shown;
  switch (place_) {
    case Place::undecided:
      decide(piece, shown);
      break;
    case Place::before_object:
      search(piece, shown);
      break;
    case Place::object:
      object_.feed(piece, shown);
      break;
    case Place::prose:
      prose_.feed(piece, shown);
      break;
    case Place::nothing:
      break;
  }
  return shown;
}

std::string LiveText::Reader::finish() {
  std::string shown;
  finder_.finish();
  bool const is_empty = counted_ == 0;
  if (place_ == Place::undecided && finder_.state() == ObjectFinder::State::searching && !is_empty)
    take_as_prose(shown);
  return shown;
}

void LiveText::Reader::search(std::string_view piece, std::string& shown) {
  finder_.feed(piece);
  if (finder_.state() == ObjectFinder::State::searching) return;
  place_ = finder_.state() == ObjectFinder::State::found ? Place::object : Place::nothing;
  words_.clear();
  auto const begun = std::exchange(finder_.object(), {});
  if (place_ == Place::object) object_.feed(begun, shown);
}

void LiveText::Reader::decide(std::string_view piece, std::string& shown) {
  while (!piece.empty() && place_ == Place::undecided) {
    take_word(piece.front());
    search(piece.substr(0, 1), shown);
    piece.remove_prefix(1);
    if (place_ == Place::undecided && is_surely_prose()) take_as_prose(shown);
  }
  if (!piece.empty()) shown += feed(piece);
}

void LiveText::Reader::take_word(char c) {
  words_ += c;
  if (counted_ == 0 && is_json_blank(c)) return;
  ++counted_;
  if (counted_ == kProseBytes) early_fence_ = words_.find("```") != std::string::npos;
}

bool LiveText::Reader::is_surely_prose() const {
  return counted_ >= kProseBytes && !early_fence_ && !finder_.is_tempted();
}

void LiveText::Reader::take_as_prose(std::string& shown) {
  place_ = Place::prose;
  prose_.feed(std::exchange(words_, {}), shown);
}

LiveText::LiveText(std::string field, Gate gate, bool prose)
    : reader_{std::make_unique<Reader>(std::move(field), std::move(gate), prose)} {}

LiveText::~LiveText() = default;
LiveText::LiveText(LiveText&&) noexcept = default;
LiveText& LiveText::operator=(LiveText&&) noexcept = default;

std::string LiveText::feed(std::string_view piece) {
  return reader_->feed(piece);
}

std::string LiveText::finish() {
  return reader_->finish();
}

bool LiveText::is_prose() const {
  return reader_->is_prose();
}

}  // namespace runnel::flow

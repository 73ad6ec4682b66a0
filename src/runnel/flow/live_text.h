#pragma once

#include <boost/json/object.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace runnel::flow {

// The text of one field, out of a JSON object that is still being written (FLOW-4): escapes, surrogate pairs
// and characters may be split anywhere. Finds the object where read_output does. Joined, what it gives is a
// prefix of the field's value, and the whole value where the document turns out to be whole and valid and the
// gate let it; it never gives half a character. Where the field comes twice, that holds for the first, and
// read_output takes the last.
//
// It stays silent where read_output will find a problem: before and behind the object, in a list of objects,
// and from the first byte on that is no JSON or that parse_lenient_json would refuse.
class LiveText {
 public:
  // Asked at the text's beginning, and then, until it says yes, whenever another field is complete, with all
  // fields that are complete so far, never the text itself: whether the text may be shown. After kMostAsked
  // times it is not asked again, so that an output of a million fields costs no more than a sane one.
  using Gate = std::function<bool(boost::json::object const& fields)>;

  // `prose`: an output that begins with words instead of JSON is text itself, as it stands. That is decided
  // once kProseBytes (blanks before them not counted) have come without a code fence, and no brace among them
  // can begin an object any more; or at the end, where the output holds no object and is not blank.
  static constexpr std::size_t kProseBytes = 120;
  static constexpr std::size_t kMostAsked = 64;
  LiveText(std::string field, Gate gate, bool prose);
  ~LiveText();
  LiveText(LiveText&&) noexcept;
  LiveText& operator=(LiveText&&) noexcept;

  // The text that may be shown now that `piece` has come; may be empty.
  std::string feed(std::string_view piece);

  // The output is complete: what is left to show. Only words can be: of an object, all has been given.
  std::string finish();

  // Whether the output was taken as prose. Then it is the answer, even where read_output finds an object
  // further on: its words have been shown. Of words that cannot be stored (invalid UTF-8, U+0000) only those
  // before are given.
  [[nodiscard]] bool is_prose() const;

 private:
  class Reader;
  std::unique_ptr<Reader> reader_;
};

}  // namespace runnel::flow

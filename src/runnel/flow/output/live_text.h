#pragma once

#include <boost/json/object.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace runnel::flow {

// Gives the text of one field of a JSON object that is still being written (FLOW-4). Escapes, surrogate pairs
// and characters may be split anywhere. It finds the same object as read_output. The pieces that it gives,
// joined, are a prefix of the field's value. They are the whole value if the document turns out to be
// complete and valid and the gate opens. It never gives half a character. If the field occurs twice, this
// holds for the first one, while read_output takes the last one.
//
// It gives nothing before and after the object, and nothing where read_output will find a problem: in a list
// of objects, and from the first byte on that is not JSON or that parse_lenient_json would refuse.
class LiveText {
 public:
  // Says whether the text may be shown. It is asked when the text begins and then, until it says yes,
  // whenever another field is complete. It gets all fields that are complete so far, never the text itself.
  // It is asked at most kMostAsked times, so that an output with a million fields costs no more than a normal
  // one.
  using Gate = std::function<bool(boost::json::object const& fields)>;

  // `prose`: an output that begins with words instead of JSON is the text itself, unchanged. This is decided
  // as soon as kProseBytes (not counting the blanks before them) have come without a code fence and no brace
  // among them can begin an object; or at the end, if the output holds no object and is not blank.
  static constexpr std::size_t kProseBytes = 120;
  static constexpr std::size_t kMostAsked = 64;
  LiveText(std::string field, Gate gate, bool prose);
  ~LiveText();
  LiveText(LiveText&&) noexcept;
  LiveText& operator=(LiveText&&) noexcept;

  // Returns the text that may be shown after `piece`; it may be empty.
  std::string feed(std::string_view piece);

  // To be called when the output is complete. Returns the text that is left to show. This can only be prose,
  // because the text of an object has been given already.
  std::string finish();

  // Whether the output was taken as prose. Then it is the answer, even if read_output finds an object further
  // on, because its words have been shown. Prose is given only up to the first byte that cannot be stored
  // (invalid UTF-8, U+0000).
  [[nodiscard]] bool is_prose() const;

 private:
  class Reader;
  std::unique_ptr<Reader> reader_;
};

}  // namespace runnel::flow

#pragma once

#include <boost/json/object.hpp>

#include <cstddef>
#include <string>
#include <string_view>

#include "runnel/flow/output/live_text.h"
#include "runnel/flow/output/string_decoder.h"
#include "runnel/flow/output/value_scanner.h"

namespace runnel::flow {

// Gives the text of one field of a JSON object that is still being written, from the object's brace on
// (live_text.h). The cost of a piece depends only on the piece: no byte is read twice, except that each of
// the other fields is parsed once when it is complete. It gives nothing more after the first place that
// parse_lenient_json would refuse.
class LiveObject {
 public:
  LiveObject(std::string field, LiveText::Gate gate);

  // Appends the text that may be shown after this piece.
  void feed(std::string_view piece, std::string& shown);

  // The other fields that are complete so far.
  [[nodiscard]] boost::json::object const& fields() const { return fields_; }

 private:
  enum class Place { brace, first_key, next_key, key, colon, value, text, other, comma, over };

  // Returns how many bytes it took; 0 if only the place has changed.
  std::size_t step(std::string_view piece, std::string& shown);
  std::size_t take_key(std::string_view piece);
  std::size_t take_text(std::string_view piece, std::string& shown);
  std::size_t take_other(std::string_view piece, std::string& shown);
  void take_mark(char c);
  void begin_value(char c, std::string& shown);
  void end_key();
  void end_other(std::string& shown);
  void ask_gate(std::string& shown);

  std::string field_;
  LiveText::Gate gate_;
  std::size_t asked_ = 0;  // How often the gate was asked.
  bool is_open_ = false;   // The gate has said yes.

  Place place_ = Place::brace;
  ValueScanner scanner_;  // Finds the end of a key or of another field's value.
  std::string raw_;       // The bytes of that key or value so far.
  std::string key_;
  boost::json::object fields_;
  bool has_field_ = false;  // The field has begun; if it occurs again, that is not shown.
  bool has_text_ = false;   // The field's value is a text.
  StringDecoder decoder_;
  std::string held_;  // The text that waits for the gate to open.
};

}  // namespace runnel::flow

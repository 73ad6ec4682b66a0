#pragma once

#include <boost/json/object.hpp>

#include <cstddef>
#include <string>
#include <string_view>

#include "runnel/flow/live_text.h"
#include "runnel/flow/string_decoder.h"
#include "runnel/flow/value_scanner.h"

namespace runnel::flow {

// The text of one field of a JSON object that is still being written, from the object's brace on
// (live_text.h). What a piece costs depends on the piece alone: no byte is looked at again, but for the other
// fields, each of which is parsed once, when it is complete. From the first place on that parse_lenient_json
// would refuse, nothing more is given.
class LiveObject {
 public:
  LiveObject(std::string field, LiveText::Gate gate);

  // Appends what may be shown now.
  void feed(std::string_view piece, std::string& shown);

 private:
  enum class Place { brace, first_key, next_key, key, colon, value, text, other, comma, over };

  // How many bytes it took; none where only the place has changed.
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
  std::size_t asked_ = 0;  // So often,
  bool is_open_ = false;   // and it has said yes.

  Place place_ = Place::brace;
  ValueScanner scanner_;  // Of the key or of another field's value,
  std::string raw_;       // whose bytes so far these are.
  std::string key_;
  boost::json::object fields_;
  bool has_field_ = false;  // The field has begun; a second one is not shown.
  bool has_text_ = false;   // And it is a text.
  StringDecoder decoder_;
  std::string held_;  // Of the text, until the gate is open.
};

}  // namespace runnel::flow

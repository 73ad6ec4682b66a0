#include "runnel/flow/output/live_object.h"

#include <boost/json/string.hpp>
#include <boost/json/value.hpp>

#include <utility>
#include <variant>

#include "runnel/core/json/lenient.h"
#include "runnel/flow/output/json_blank.h"

namespace runnel::flow {

namespace json = boost::json;

LiveObject::LiveObject(std::string field, LiveText::Gate gate)
    : field_{std::move(field)}, gate_{std::move(gate)} {}

void LiveObject::feed(std::string_view piece, std::string& shown) {
  while (!piece.empty() && place_ != Place::over)
    piece.remove_prefix(step(piece, shown));
}

std::size_t LiveObject::step(std::string_view piece, std::string& shown) {
  switch (place_) {
    case Place::key:
      return take_key(piece);
    case Place::text:
      return take_text(piece, shown);
    case Place::other:
      return take_other(piece, shown);
    default:
      break;
  }
  char const c = piece.front();
  if (is_json_blank(c)) return 1;
  if (place_ == Place::value) {
    begin_value(c, shown);
    return place_ == Place::text ? 1 : 0;  // The opening quote is not part of the text.
  }
  if (c == '"' && (place_ == Place::first_key || place_ == Place::next_key)) {
    scanner_ = {};
    raw_.clear();
    place_ = Place::key;
    return 0;
  }
  take_mark(c);
  return 1;
}

// Takes a byte between keys and values. The closing brace ends the object, and so does a wrong byte.
void LiveObject::take_mark(char c) {
  if (place_ == Place::brace && c == '{') {
    place_ = Place::first_key;
  } else if (place_ == Place::colon && c == ':') {
    place_ = Place::value;
  } else if (place_ == Place::comma && c == ',') {
    place_ = Place::next_key;
  } else {
    place_ = Place::over;
  }
}

std::size_t LiveObject::take_key(std::string_view piece) {
  auto const taken = scanner_.feed(piece);
  raw_.append(piece, 0, taken);
  if (scanner_.is_complete()) end_key();
  return taken;
}

void LiveObject::end_key() {
  auto const parsed = parse_lenient_json(raw_);
  auto const* key = std::get_if<json::value>(&parsed);
  place_ = Place::over;
  if (key == nullptr) return;
  key_ = std::string_view{key->get_string()};
  bool const text_again = key_ == field_ && has_field_;
  if (!text_again) place_ = Place::colon;
}

void LiveObject::begin_value(char c, std::string& shown) {
  bool const is_field = key_ == field_;
  has_field_ = has_field_ || is_field;
  if (is_field && c == '"') {
    place_ = Place::text;
    has_text_ = true;
    return ask_gate(shown);
  }
  scanner_ = {};
  raw_.clear();
  place_ = Place::other;
}

std::size_t LiveObject::take_text(std::string_view piece, std::string& shown) {
  auto const taken = decoder_.feed(piece, is_open_ ? shown : held_);
  if (decoder_.is_complete()) place_ = Place::comma;
  if (decoder_.is_broken()) place_ = Place::over;
  return taken;
}

std::size_t LiveObject::take_other(std::string_view piece, std::string& shown) {
  auto const taken = scanner_.feed(piece);
  raw_.append(piece, 0, taken);
  if (scanner_.is_complete()) end_other(shown);
  return taken;
}

void LiveObject::end_other(std::string& shown) {
  auto parsed = parse_lenient_json(raw_, kDefaultJsonDepth - 1);  // One level is the object itself.
  auto* value = std::get_if<json::value>(&parsed);
  place_ = value == nullptr ? Place::over : Place::comma;
  if (value == nullptr) return;
  fields_.insert_or_assign(key_, std::move(*value));
  if (has_text_) ask_gate(shown);
}

void LiveObject::ask_gate(std::string& shown) {
  if (is_open_ || asked_ == LiveText::kMostAsked) return;
  ++asked_;
  is_open_ = gate_(fields_);
  if (!is_open_) return;
  shown += std::exchange(held_, {});
}

}  // namespace runnel::flow

#include "runnel/core/json/lenient.h"

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/value.hpp>
#include <boost/json/value_stack.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "runnel/core/json/problem.h"
#include "runnel/core/text/surrogates.h"

namespace runnel {
namespace {

namespace json = boost::json;

class LenientHandler {
 public:
  static constexpr std::size_t max_object_size = json::object::max_size();
  static constexpr std::size_t max_array_size = json::array::max_size();
  static constexpr std::size_t max_key_size = json::string::max_size();
  static constexpr std::size_t max_string_size = json::string::max_size();

  LenientHandler() { stack_.reset(); }

  json::value release() { return stack_.release(); }

  bool on_document_begin(json::error_code&) { return true; }
  bool on_document_end(json::error_code&) { return true; }
  bool on_object_begin(json::error_code&) { return true; }
  bool on_object_end(std::size_t size, json::error_code&) {
    stack_.push_object(size);  // If keys are equal, the last one is kept.
    return true;
  }
  bool on_array_begin(json::error_code&) { return true; }
  bool on_array_end(std::size_t size, json::error_code&) {
    stack_.push_array(size);
    return true;
  }
  bool on_key_part(json::string_view part, std::size_t, json::error_code&) {
    stack_.push_chars(storable(part));
    return true;
  }
  bool on_key(json::string_view part, std::size_t, json::error_code&) {
    stack_.push_key(storable(part));
    return true;
  }
  bool on_string_part(json::string_view part, std::size_t, json::error_code&) {
    stack_.push_chars(storable(part));
    return true;
  }
  bool on_string(json::string_view part, std::size_t, json::error_code&) {
    stack_.push_string(storable(part));
    return true;
  }
  bool on_number_part(json::string_view, json::error_code&) { return true; }
  bool on_int64(std::int64_t value, json::string_view, json::error_code&) {
    stack_.push_int64(value);
    return true;
  }
  bool on_uint64(std::uint64_t value, json::string_view, json::error_code&) {
    stack_.push_uint64(value);
    return true;
  }
  bool on_double(double value, json::string_view digits, json::error_code&) {
    bool const whole = digits.find_first_of(".eE") == json::string_view::npos;
    if (whole || !std::isfinite(value)) {
      stack_.push_string(digits);
    } else {
      stack_.push_double(value);
    }
    return true;
  }
  bool on_bool(bool value, json::error_code&) {
    stack_.push_bool(value);
    return true;
  }
  bool on_null(json::error_code&) {
    stack_.push_null();
    return true;
  }
  bool on_comment_part(json::string_view, json::error_code&) { return true; }
  bool on_comment(json::string_view, json::error_code&) { return true; }

 private:
  json::string_view storable(json::string_view part) {
    if (part.find('\0') == json::string_view::npos) return part;
    mended_.clear();
    for (auto const c : part)
      c == '\0' ? mended_.append("\uFFFD") : mended_.append(1, c);
    return {mended_.data(), mended_.size()};
  }

  json::value_stack stack_;
  std::string mended_;
};

std::variant<json::value, JsonProblem> parse(std::string_view text, std::size_t max_depth) {
  json::parse_options options;
  options.max_depth = max_depth;
  json::basic_parser<LenientHandler> parser{options};
  json::error_code error;
  auto const used = parser.write_some(false, text.data(), text.size(), error);
  if (!error && used < text.size()) error = json::error::extra_data;
  if (error) return problem_at(words_for(error, max_depth), text, used);
  return parser.handler().release();
}

}  // namespace

std::variant<json::value, JsonProblem> parse_lenient_json(std::string_view text, std::size_t max_depth) {
  auto parsed = parse(text, max_depth);
  if (std::holds_alternative<json::value>(parsed)) return parsed;
  // The mended text has the same length, so a problem is reported at the right place.
  return parse(mend_surrogates(text, LoneHalf::replaced), max_depth);
}

}  // namespace runnel

#include "runnel/core/json/parse.h"

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <boost/json/value_stack.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "runnel/core/json/problem.h"

namespace runnel {
namespace {

namespace json = boost::json;

// In an object with more keys than this, a new key is looked up in a tree instead of being compared with each
// other key. It is not a hash table, because a sender could choose keys that collide.
constexpr std::size_t kFewKeys = 16;
// A longer key is not quoted in the message to its sender.
constexpr std::size_t kQuotedKey = 64;

// The keys of the objects that are open, so that a repeated key is found where it occurs. Keys are compared
// unescaped.
class OpenObjects {
 public:
  void begin() { objects_.push_back({keys_.size(), text_.size(), {}}); }

  void end() {
    keys_.resize(objects_.back().first_key);
    text_.resize(objects_.back().first_byte);
    objects_.pop_back();
  }

  void add_part(json::string_view part) { text_.append(part.data(), part.size()); }

  // Completes the key that was added in parts. False if its object already has this key.
  bool add_key() {
    Slice const added{key_begins(), text_.size()};
    auto& object = objects_.back();
    bool const fresh =
        keys_.size() - object.first_key < kFewKeys ? is_new(object, added) : is_new_among_many(object, added);
    keys_.push_back(added);
    return fresh;
  }

  [[nodiscard]] std::string_view newest() const { return text_of(keys_.back()); }

 private:
  struct Slice {
    std::size_t begin;
    std::size_t end;
  };
  struct Object {
    std::size_t first_key;
    std::size_t first_byte;
    std::set<std::string, std::less<>> many;
  };

  [[nodiscard]] std::string_view text_of(Slice slice) const {
    return std::string_view{text_}.substr(slice.begin, slice.end - slice.begin);
  }

  [[nodiscard]] std::size_t key_begins() const {
    auto const& object = objects_.back();
    return keys_.size() > object.first_key ? keys_.back().end : object.first_byte;
  }

  [[nodiscard]] bool is_new(Object const& object, Slice added) const {
    auto const first = keys_.begin() + static_cast<std::ptrdiff_t>(object.first_key);
    return std::none_of(first, keys_.end(), [&](Slice key) { return text_of(key) == text_of(added); });
  }

  bool is_new_among_many(Object& object, Slice added) {
    if (object.many.empty()) {
      for (std::size_t at = object.first_key; at < keys_.size(); ++at)
        object.many.emplace(text_of(keys_[at]));
    }
    return object.many.emplace(text_of(added)).second;
  }

  std::vector<Object> objects_;
  std::vector<Slice> keys_;
  std::string text_;
};

// The checks for every JSON text. `refusal` says more than the parser's error code can.
class Checks {
 public:
  static constexpr std::size_t max_object_size = json::object::max_size();
  static constexpr std::size_t max_array_size = json::array::max_size();
  static constexpr std::size_t max_key_size = json::string::max_size();
  static constexpr std::size_t max_string_size = json::string::max_size();

  std::string refusal;
  bool too_complex = false;

 protected:
  bool refuse(json::error_code& error, std::string why) {
    refusal = std::move(why);
    error = json::error::syntax;
    return false;
  }

  bool take_key(json::string_view last_part, json::error_code& error) {
    objects_.add_part(last_part);
    if (objects_.add_key()) return true;
    auto const key = objects_.newest();
    if (key.size() > kQuotedKey) return refuse(error, "a key occurs twice in one object");
    return refuse(error, "the key '" + std::string{key} + "' occurs twice in one object");
  }

  OpenObjects objects_;
};

// For a text that is kept as text.
class TextHandler : public Checks {
 public:
  bool on_object_begin(json::error_code&) {
    objects_.begin();
    return true;
  }
  bool on_object_end(std::size_t, json::error_code&) {
    objects_.end();
    return true;
  }
  bool on_key_part(json::string_view part, std::size_t, json::error_code&) {
    objects_.add_part(part);
    return true;
  }
  bool on_key(json::string_view part, std::size_t, json::error_code& error) { return take_key(part, error); }

  bool on_document_begin(json::error_code&) { return true; }
  bool on_document_end(json::error_code&) { return true; }
  bool on_array_begin(json::error_code&) { return true; }
  bool on_array_end(std::size_t, json::error_code&) { return true; }
  bool on_string_part(json::string_view, std::size_t, json::error_code&) { return true; }
  bool on_string(json::string_view, std::size_t, json::error_code&) { return true; }
  bool on_number_part(json::string_view, json::error_code&) { return true; }
  bool on_int64(std::int64_t, json::string_view, json::error_code&) { return true; }
  bool on_uint64(std::uint64_t, json::string_view, json::error_code&) { return true; }
  bool on_double(double, json::string_view, json::error_code&) { return true; }
  bool on_bool(bool, json::error_code&) { return true; }
  bool on_null(json::error_code&) { return true; }
  bool on_comment_part(json::string_view, json::error_code&) { return true; }
  bool on_comment(json::string_view, json::error_code&) { return true; }
};

// For a text that becomes a tree. It is checked and built in one pass.
class TreeHandler : public Checks {
 public:
  explicit TreeHandler(std::size_t max_values) : values_left_{max_values} { stack_.reset(); }

  json::value release() { return stack_.release(); }

  bool on_document_begin(json::error_code&) { return true; }
  bool on_document_end(json::error_code&) { return true; }
  bool on_object_begin(json::error_code& error) {
    objects_.begin();
    return count_value(error);
  }
  bool on_object_end(std::size_t size, json::error_code&) {
    objects_.end();
    stack_.push_object(size);
    return true;
  }
  bool on_array_begin(json::error_code& error) { return count_value(error); }
  bool on_array_end(std::size_t size, json::error_code&) {
    stack_.push_array(size);
    return true;
  }
  bool on_key_part(json::string_view part, std::size_t, json::error_code& error) {
    objects_.add_part(part);
    stack_.push_chars(part);
    return check_text(part, error);
  }
  bool on_key(json::string_view part, std::size_t, json::error_code& error) {
    stack_.push_key(part);
    return count_value(error) && check_text(part, error) && take_key(part, error);
  }
  bool on_string_part(json::string_view part, std::size_t, json::error_code& error) {
    stack_.push_chars(part);
    return check_text(part, error);
  }
  bool on_string(json::string_view part, std::size_t, json::error_code& error) {
    stack_.push_string(part);
    return count_value(error) && check_text(part, error);
  }
  bool on_number_part(json::string_view, json::error_code&) { return true; }
  bool on_int64(std::int64_t value, json::string_view, json::error_code& error) {
    stack_.push_int64(value);
    return count_value(error);
  }
  bool on_uint64(std::uint64_t, json::string_view, json::error_code& error) { return refuse_whole(error); }
  bool on_double(double value, json::string_view digits, json::error_code& error) {
    if (digits.find_first_of(".eE") == json::string_view::npos) return refuse_whole(error);
    if (!std::isfinite(value)) return refuse(error, "the number is too large");
    stack_.push_double(value);
    return count_value(error);
  }
  bool on_bool(bool value, json::error_code& error) {
    stack_.push_bool(value);
    return count_value(error);
  }
  bool on_null(json::error_code& error) {
    stack_.push_null();
    return count_value(error);
  }
  bool on_comment_part(json::string_view, json::error_code&) { return true; }
  bool on_comment(json::string_view, json::error_code&) { return true; }

 private:
  bool count_value(json::error_code& error) {
    if (values_left_ > 0) {
      --values_left_;
      return true;
    }
    too_complex = true;
    return refuse(error, "the JSON has more values and keys than are allowed");
  }

  bool check_text(json::string_view part, json::error_code& error) {
    if (part.find('\0') == json::string_view::npos) return true;
    return refuse(error, "a string must not contain U+0000");
  }

  bool refuse_whole(json::error_code& error) {
    return refuse(error, "the whole number does not fit 64 bits; send it as a string");
  }

  json::value_stack stack_;
  std::size_t values_left_;
};

template <class Handler>
std::optional<JsonProblem> run(json::basic_parser<Handler>& parser, std::string_view text,
                               std::size_t max_depth) {
  json::error_code error;
  auto used = parser.write_some(false, text.data(), text.size(), error);
  if (!error && used < text.size()) error = json::error::extra_data;
  if (!error) return std::nullopt;
  auto& refusal = parser.handler().refusal;
  auto problem = problem_at(refusal.empty() ? words_for(error, max_depth) : std::move(refusal), text, used);
  problem.too_complex = parser.handler().too_complex;
  return problem;
}

json::parse_options options_for(std::size_t max_depth) {
  json::parse_options options;
  options.max_depth = max_depth;
  return options;
}

}  // namespace

std::variant<json::value, JsonProblem> parse_json(std::string_view text, JsonLimits limits) {
  json::basic_parser<TreeHandler> parser{options_for(limits.depth), limits.values};
  if (auto problem = run(parser, text, limits.depth)) return std::move(*problem);
  return parser.handler().release();
}

std::variant<json::value, JsonProblem> parse_json(std::string_view text, std::size_t max_depth) {
  JsonLimits limits;
  limits.depth = max_depth;
  return parse_json(text, limits);
}

std::optional<JsonProblem> check_json_text(std::string_view text, std::size_t max_depth) {
  json::basic_parser<TextHandler> parser{options_for(max_depth)};
  return run(parser, text, max_depth);
}

std::optional<json::value> parse_stored_json(std::string_view text) {
  json::error_code error;
  auto value = json::parse({text.data(), text.size()}, error, {}, options_for(2 * kDefaultJsonDepth));
  if (error) return std::nullopt;
  return value;
}

}  // namespace runnel

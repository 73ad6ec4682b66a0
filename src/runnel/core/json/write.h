#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace runnel {

// Writes JSON without a document tree: streamed tokens are appended directly to the outgoing buffer.

// Appends `text` as a JSON string with its quotes. Control characters are escaped, so the result is always
// one line; bytes that are not UTF-8 become U+FFFD.
void append_json_string(std::string& out, std::string_view text);

void append_json_number(std::string& out, std::int64_t value);
void append_json_number(std::string& out, std::uint64_t value);

// Appends a JSON array; `append_item(out, item)` appends each of its elements.
template <class Items, class AppendItem>
void append_json_array(std::string& out, Items const& items, AppendItem const& append_item) {
  out += '[';
  bool is_first = true;
  for (auto const& item : items) {
    if (!is_first) out += ',';
    is_first = false;
    append_item(out, item);
  }
  out += ']';
}

// Appends one JSON object. This class writes the commas and the keys; the caller provides the values. Keys
// are literals in the program, so they are not escaped.
class JsonObject {
 public:
  explicit JsonObject(std::string& out) : out_{out} { out_ += '{'; }

  JsonObject& text(std::string_view key, std::string_view value) {
    append_key(key);
    append_json_string(out_, value);
    return *this;
  }
  JsonObject& number(std::string_view key, std::int64_t value) {
    append_key(key);
    append_json_number(out_, value);
    return *this;
  }
  JsonObject& boolean(std::string_view key, bool value) { return raw(key, value ? "true" : "false"); }
  JsonObject& null(std::string_view key) { return raw(key, "null"); }
  // `json` must be one line of valid JSON.
  JsonObject& raw(std::string_view key, std::string_view json) {
    append_key(key);
    out_ += json;
    return *this;
  }
  // Appends only the key. The caller appends the value next, for example a nested object.
  std::string& key(std::string_view key) {
    append_key(key);
    return out_;
  }
  void close() { out_ += '}'; }

 private:
  void append_key(std::string_view key) {
    if (!first_) out_ += ',';
    first_ = false;
    out_ += '"';
    out_ += key;
    out_ += "\":";
  }

  std::string& out_;
  bool first_ = true;
};

}  // namespace runnel

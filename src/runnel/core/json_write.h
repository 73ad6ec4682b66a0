#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace runnel {

// JSON without a document tree: the token path appends straight to the outgoing buffer.

// Appends `text` as a JSON string with its quotes. Control characters are escaped, so the result is one line
// whatever the text holds; bytes that are not UTF-8 become U+FFFD.
void append_json_string(std::string& out, std::string_view text);

void append_json_number(std::string& out, std::int64_t value);
void append_json_number(std::string& out, std::uint64_t value);

// Appends the members of one JSON object: commas and keys are its work, values the caller's.
// Keys are literals of the program: they are not escaped.
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
  // For a nested value that the caller appends itself right after.
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

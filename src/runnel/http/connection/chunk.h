#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string_view>

// How the body of an event stream is divided into pieces.
namespace runnel::http {

// How the body's end is marked.
enum class Framing : std::uint8_t {
  chunked,  // HTTP/1.1.
  plain,    // HTTP/1.0: by closing the connection.
};

// The bytes before a piece of the body (its head), and the bytes after it (its tail).
class ChunkHead {
 public:
  ChunkHead() = default;
  ChunkHead(Framing framing, std::size_t bytes) {
    if (framing == Framing::plain) return;
    auto* const end = std::to_chars(text_.begin(), text_.end() - kLineEnd.size(), bytes, 16).ptr;
    kLineEnd.copy(end, kLineEnd.size());
    size_ = static_cast<std::uint8_t>(end + kLineEnd.size() - text_.begin());
  }

  // The empty chunk that ends the body. It has no bytes, so its head is all of it.
  static ChunkHead of_last_chunk() {
    ChunkHead head;
    kLastChunk.copy(head.text_.data(), kLastChunk.size());
    head.size_ = static_cast<std::uint8_t>(kLastChunk.size());
    return head;
  }

  [[nodiscard]] std::string_view text() const { return {text_.data(), size_}; }
  [[nodiscard]] std::size_t size() const { return size_; }

  static std::string_view tail(Framing framing) { return framing == Framing::chunked ? kLineEnd : ""; }

 private:
  static constexpr std::string_view kLineEnd = "\r\n";
  static constexpr std::string_view kLastChunk = "0\r\n\r\n";

  std::array<char, 18> text_{};
  std::uint8_t size_ = 0;
};

}  // namespace runnel::http

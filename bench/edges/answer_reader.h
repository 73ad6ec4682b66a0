#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace runnel::bench {

// Counts how often a text occurs in bytes that come in pieces.
class Search {
 public:
  explicit Search(std::string text) : text_{std::move(text)} {}

  void feed(std::string_view piece);
  [[nodiscard]] std::size_t found() const { return found_; }  // 0 if the text is empty.

 private:
  std::string const text_;
  std::string tail_;  // The last bytes, too few to contain the text.
  std::size_t found_ = 0;
};

// Reads one HTTP/1.1 answer from the bytes of a connection: the head, then a body with a Content-Length or in
// chunks. What follows a 101 counts as a body that ends only with the text up to which it is read. Throws
// std::runtime_error for anything else.
class AnswerReader {
 public:
  AnswerReader(std::string until, std::string count) : until_{std::move(until)}, count_{std::move(count)} {}

  void feed(std::string_view bytes);

  [[nodiscard]] int status() const { return status_; }  // 0 until the head is complete.
  [[nodiscard]] std::size_t body_bytes() const { return body_bytes_; }
  [[nodiscard]] std::size_t counted() const { return count_.found(); }
  // The body is complete, or contains the text up to which it is read.
  [[nodiscard]] bool done() const { return whole_ || until_.found() > 0; }
  [[nodiscard]] bool whole() const { return whole_; }

 private:
  bool read_head();
  bool read_line(std::string_view& line);
  bool read_body();
  void take(std::string_view piece);

  enum class Step { head, counted_body, chunk_size, chunk_data, chunk_end, trailer, upgraded };

  Search until_;
  Search count_;
  std::string buffer_;
  std::size_t at_ = 0;  // The first byte of `buffer_` that has not been read.
  Step step_ = Step::head;
  std::size_t left_ = 0;  // Bytes of the body or of the chunk that are still to come.
  int status_ = 0;
  std::size_t body_bytes_ = 0;
  bool whole_ = false;
};

}  // namespace runnel::bench

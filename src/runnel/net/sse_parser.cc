#include "runnel/net/sse_parser.h"

#include <algorithm>
#include <cstring>

namespace runnel::net {

namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kData = "data";

}  // namespace

std::size_t SseParser::Finder::find(std::string_view text, std::size_t from) {
  if (at_ < from) at_ = from, found_ = false;
  if (found_ || at_ == text.size()) return at_;
  auto const at = text.find(byte_, at_);
  found_ = at != std::string_view::npos;
  at_ = found_ ? at : text.size();
  return at_;
}

void SseParser::Finder::move_back(std::size_t count) {
  found_ = found_ && at_ >= count;
  at_ -= std::min(at_, count);
}

SseParser::SseParser(std::size_t max_event_bytes) : max_event_bytes_{max_event_bytes} {}

bool SseParser::feed(std::string_view bytes) {
  if (too_long_) return false;
  drop_delivered();
  buffer_.append(bytes);
  read_lines();
  return !too_long_;
}

bool SseParser::finish() {
  if (too_long_) return false;
  read_lines();
  auto const rest = std::string_view{buffer_}.substr(line_);
  line_ = buffer_.size();
  if (!rest.empty()) take_line(rest);
  if (!too_long_) end_event();
  return !too_long_;
}

bool SseParser::next(std::string_view& data) {
  if (delivered_ == events_.size()) return false;
  auto const event = events_[delivered_++];
  data = std::string_view{buffer_}.substr(event.begin, event.size);
  return true;
}

// Moves the bytes that are kept to the front. Bytes that are already there stay, so no byte moves twice.
void SseParser::drop_delivered() {
  if (delivered_ < events_.size()) return;
  events_.clear();
  delivered_ = 0;

  auto const line_size = buffer_.size() - line_;
  auto* const front = buffer_.data();
  if (!has_data_) data_ = {};
  if (data_.begin > 0) std::memmove(front, front + data_.begin, data_.size);
  // The LF that joins the next data line needs no extra room: the field name of that line is longer.
  if (line_ > data_.size) std::memmove(front + data_.size, front + line_, line_size);
  line_feed_.move_back(line_ - data_.size);
  carriage_return_.move_back(line_ - data_.size);
  data_.begin = 0;
  line_ = data_.size;
  buffer_.resize(line_ + line_size);
}

void SseParser::read_lines() {
  std::string_view const text{buffer_};
  while (line_ < text.size()) {
    if (after_carriage_return_) {
      after_carriage_return_ = false;
      if (text[line_] == '\n') {
        ++line_;
        continue;
      }
    }
    auto const end = std::min(line_feed_.find(text, line_), carriage_return_.find(text, line_));
    if (end - line_ > max_event_bytes_) too_long_ = true;
    if (too_long_ || end == text.size()) return;
    after_carriage_return_ = text[end] == '\r';
    auto const line = text.substr(line_, end - line_);
    line_ = end + 1;
    take_line(line);
    if (too_long_) return;
  }
}

void SseParser::take_line(std::string_view line) {
  if (first_line_ && line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  first_line_ = false;
  if (line.empty()) return end_event();
  if (!line.starts_with(kData)) return;
  line.remove_prefix(kData.size());
  if (line.empty()) return add_data(line);
  if (line.front() != ':') return;
  line.remove_prefix(1);
  if (line.starts_with(' ')) line.remove_prefix(1);
  add_data(line);
}

void SseParser::add_data(std::string_view value) {
  auto const begin = static_cast<std::size_t>(value.data() - buffer_.data());
  if (!has_data_) {
    data_ = {begin, value.size()};
    has_data_ = true;
    return;
  }
  if (data_.size + 1 + value.size() > max_event_bytes_) {
    too_long_ = true;
    return;
  }
  auto* const end = buffer_.data() + data_.begin + data_.size;
  *end = '\n';
  std::memmove(end + 1, value.data(), value.size());
  data_.size += 1 + value.size();
}

void SseParser::end_event() {
  if (has_data_) events_.push_back(data_);
  has_data_ = false;
}

}  // namespace runnel::net

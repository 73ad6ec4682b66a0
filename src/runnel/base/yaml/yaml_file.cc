#include "runnel/base/yaml/yaml_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "runnel/base/yaml/trouble.h"
#include "runnel/core/text/text.h"

namespace runnel::base {
namespace {

bool is_control(char32_t c) {
  bool const is_blank = c == '\t' || c == '\n' || c == '\r';
  return (c < 0x20 && !is_blank) || (c >= 0x7f && c < 0xa0);
}

// The offset of the first byte that a text cannot contain; the size of the file if there is none.
std::size_t find_no_text(std::string_view file) {
  std::size_t at = 0;
  while (at < file.size()) {
    auto const length = utf8_sequence(file, at);
    if (length == 0 || is_control(code_point_at(file, at))) break;
    at += length;
  }
  return at;
}

std::string why_no_text(std::string_view file, std::size_t at) {
  if (utf8_sequence(file, at) == 0) return "the file is not UTF-8 text from here on";
  return fmt::format("the control character U+{:04X} is not allowed in a file",
                     static_cast<std::uint32_t>(code_point_at(file, at)));
}

}  // namespace

YAML::Mark mark_at(std::string_view raw, std::size_t offset) {
  auto const before = raw.substr(0, offset);
  auto const line_begin = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  YAML::Mark mark;
  mark.pos = static_cast<int>(offset);
  mark.line = static_cast<int>(std::count(before.begin(), before.end(), '\n'));
  mark.column = static_cast<int>(offset - line_begin);
  return mark;
}

YamlFile::YamlFile(std::string shown, std::string const* text) : problems_{std::move(shown)} {
  if (text == nullptr) {
    problems_.add(YAML::Mark::null_mark(), "there is no such file, or it cannot be read");
  } else {
    parse(*text);
  }
}

void YamlFile::parse(std::string const& text) {
  raw_ = text;
  if (auto const bad = find_no_text(raw_); bad != raw_.size()) {
    problems_.add(mark_at(raw_, bad), why_no_text(raw_, bad));
    return;
  }
  try {
    auto const documents = YAML::LoadAll(raw_);
    if (documents.empty() || documents.front().IsNull()) {
      problems_.add(YAML::Mark::null_mark(), "the file is empty");
    } else if (documents.size() > 1) {
      problems_.add(documents[1], "a second document begins here; a file must have only one");
    } else if (!documents.front().IsMap()) {
      problems_.add(documents.front(), "expected a map");
    } else {
      map_ = documents.front();
    }
  } catch (YAML::Exception const& error) {
    auto const [mark, what] = explain_yaml(error, raw_);
    problems_.add(mark, what);
  }
}

std::optional<PlacedName> YamlFile::word(YamlFields const& fields, std::string_view key,
                                         YAML::Mark const& owner) {
  if (!fields.has(key) && !fields.keys_unclear()) problems_.add(owner, fmt::format("'{}' is missing", key));
  return optional_word(fields, key);
}

std::optional<PlacedName> YamlFile::optional_word(YamlFields const& fields, std::string_view key) {
  auto value = fields.text(key);
  if (!value) return std::nullopt;
  auto const mark = fields.find(key)->Mark();
  if (is_blank(*value)) {
    problems_.add(mark, fmt::format("'{}' must not be empty", key));
    return std::nullopt;
  }
  return PlacedName{std::move(*value), mark};
}

std::vector<PlacedName> YamlFile::words(YamlFields const& fields, std::string_view key) {
  std::vector<PlacedName> words;
  for (auto const& item : fields.list(key)) {
    if (!item.IsScalar() || item.Scalar().empty()) {
      problems_.add(item, fmt::format("'{}' must be a list of single values", key));
    } else {
      words.push_back({item.Scalar(), item.Mark()});
    }
  }
  return words;
}

void YamlFile::number(YamlFields const& fields, std::string_view key, NumberRange const& range,
                      std::int64_t& value) {
  auto const text = fields.text(key);
  if (!text) return;
  std::int64_t number = 0;
  auto const [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc{} || end != text->data() + text->size() || number < range.lowest ||
      number > range.highest) {
    problems_.add(*fields.find(key),
                  fmt::format("'{}' must be a whole number from {} to {}", key, range.lowest, range.highest));
  } else {
    value = number;
  }
}

void YamlFile::truth(YamlFields const& fields, std::string_view key, bool& value) {
  auto const text = fields.text(key);
  if (!text) return;
  if (*text != "true" && *text != "false") {
    problems_.add(*fields.find(key), fmt::format("'{}' must be true or false", key));
  } else {
    value = *text == "true";
  }
}

bool check_name(PlacedName const& name, std::string_view what, YamlProblems& problems) {
  auto const is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  bool const good = !name.name.empty() && is_letter(name.name.front()) &&
                    std::all_of(name.name.begin(), name.name.end(),
                                [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; });
  if (good) return true;
  problems.add(name.mark, fmt::format("{} is called '{}'; a name consists of lowercase letters, digits and "
                                      "'_', and begins with a letter",
                                      what, name.name));
  return false;
}

}  // namespace runnel::base

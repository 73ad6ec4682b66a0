#include "runnel/model/openai/chunk_reader.h"

#include <boost/json/basic_parser_impl.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "runnel/core/text/surrogates.h"
#include "runnel/core/text/text.h"
#include "runnel/model/openai/chunk_places.h"
#include "runnel/model/openai/usage_fields.h"

namespace runnel::model {
namespace {

namespace json = boost::json;

constexpr std::size_t kMaxDepth = 64;
constexpr double kLargestExact = 9007199254740992.0;  // 2^53.

void remove_nul(std::string& text) {
  if (text.find('\0') == std::string::npos) return;
  std::string out;
  for (auto const c : text)
    c == '\0' ? out.append("\uFFFD") : out.append(1, c);
  text = std::move(out);
}

}  // namespace

class ChunkReader::Handler {
 public:
  static constexpr std::size_t max_object_size = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t max_array_size = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t max_key_size = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t max_string_size = std::numeric_limits<std::size_t>::max();

  void begin(Chunk& chunk) {
    chunk_ = &chunk;
    chunk.text.clear();
    chunk.reasoning.clear();
    chunk.tool_calls.clear();
    chunk.finish_reason.clear();
    chunk.usage.reset();
    chunk.error.reset();
    other_reasoning_.clear();
    loose_.message.clear();
    loose_.type.clear();
    loose_code_.reset();
    error_text_.clear();
    detail_.clear();
    key_.clear();
    has_choices_ = false;
    depth_ = 0;
    expected_ = object_at(Place::document);
  }

  // False if the document is not an object.
  bool finish() {
    auto& chunk = *chunk_;
    if (chunk.reasoning.empty()) chunk.reasoning.swap(other_reasoning_);
    if (chunk.error && error_code_) chunk.error->code = *error_code_;
    if (!chunk.error && !error_text_.empty()) chunk.error = ProviderError{error_text_, "", ""};
    if (!chunk.error && !has_choices_) take_loose_error();
    remove_nul(chunk.text);
    remove_nul(chunk.reasoning);
    for (auto& call : chunk.tool_calls) {
      remove_nul(call.id);
      remove_nul(call.name);
      remove_nul(call.arguments);
    }
    return was_object_;
  }

  bool on_document_begin(json::error_code&) {
    was_object_ = false;
    return true;
  }
  bool on_document_end(json::error_code&) { return true; }

  bool on_object_begin(json::error_code& error) {
    if (depth_ == 0) was_object_ = true;
    if (expected_.or_other) append_verbatim("{}");
    return open(error);
  }
  bool on_object_end(std::size_t, json::error_code&) {
    close();
    return true;
  }
  bool on_array_begin(json::error_code& error) {
    if (expected_.or_other) append_verbatim("[]");
    if (!open(error)) return false;
    expected_ = object_at(element_of(places_[depth_ - 1]));
    return true;
  }
  bool on_array_end(std::size_t, json::error_code&) {
    close();
    return true;
  }

  bool on_key_part(json::string_view part, std::size_t, json::error_code&) {
    key_.append(part.data(), part.size());
    return true;
  }
  bool on_key(json::string_view part, std::size_t, json::error_code&) {
    if (key_.empty()) {
      expected_ = member({part.data(), part.size()});
    } else {
      key_.append(part.data(), part.size());
      expected_ = member(key_);
      key_.clear();
    }
    return true;
  }

  bool on_string_part(json::string_view part, std::size_t, json::error_code&) {
    if (expected_.text != nullptr) {
      expected_.text->append(part.data(), part.size());
    } else if (expected_.verbatim != nullptr && expected_.or_text) {
      append_verbatim(part);
    }
    return true;
  }
  bool on_string(json::string_view part, std::size_t size, json::error_code& error) {
    return on_string_part(part, size, error);
  }

  bool on_number_part(json::string_view part, json::error_code&) {
    if (expected_.verbatim != nullptr) append_verbatim(part);
    return true;
  }
  bool on_int64(std::int64_t value, json::string_view text, json::error_code& error) {
    if (expected_.number != nullptr && value >= 0) *expected_.number = value;
    return on_number_part(text, error);
  }
  bool on_uint64(std::uint64_t, json::string_view text, json::error_code& error) {
    return on_number_part(text, error);  // A number of more than 63 bits is not a count of tokens.
  }
  bool on_double(double value, json::string_view text, json::error_code& error) {
    bool const whole = value >= 0 && value < kLargestExact && std::floor(value) == value;
    if (expected_.number != nullptr && whole) *expected_.number = static_cast<std::int64_t>(value);
    return on_number_part(text, error);
  }

  bool on_bool(bool value, json::error_code&) {
    if (expected_.or_other) append_verbatim(value ? "true" : "false");
    return true;
  }
  bool on_null(json::error_code&) { return true; }
  bool on_comment_part(json::string_view, json::error_code&) { return true; }
  bool on_comment(json::string_view, json::error_code&) { return true; }

 private:
  static Place element_of(Place array) {
    switch (array) {
      case Place::choices:
        return Place::choice;
      case Place::tool_calls:
        return Place::tool_call;
      case Place::detail:
        return Place::detail;
      default:
        return Place::skipped;
    }
  }

  bool open(json::error_code& error) {
    auto const place = expected_.inside;
    places_[depth_++] = place;
    switch (place) {
      case Place::arguments:
        error = json::error::syntax;
        return false;
      case Place::choices:
        has_choices_ = true;
        break;
      case Place::tool_call:
        chunk_->tool_calls.emplace_back();
        break;
      case Place::usage:
        direct_ = {};
        metadata_ = {};
        level_ = &direct_;
        break;
      case Place::metadata:
        level_ = &metadata_;
        break;
      case Place::error:
        chunk_->error.emplace();
        error_code_.reset();
        break;
      default:
        break;
    }
    return true;
  }

  void close() {
    auto const place = places_[--depth_];
    if (place == Place::metadata) level_ = &direct_;
    if (place == Place::usage) take_usage();
    expected_ = depth_ == 0 ? Expected{} : object_at(element_of(places_[depth_ - 1]));
  }

  Expected member(std::string_view key) {
    switch (places_[depth_ - 1]) {
      case Place::document:
        return document_member(key);
      case Place::choice:
        return choice_member(key);
      case Place::delta:
        return delta_member(key);
      case Place::tool_call:
        return tool_call_member(key);
      case Place::function:
        return function_member(key);
      case Place::usage:
        return key == "metadata" ? object_at(Place::metadata) : usage_member(direct_, key);
      case Place::metadata:
        return usage_member(metadata_, key);
      case Place::usage_details:
        return usage_detail(*level_, key);
      case Place::error:
        return error_member(key);
      case Place::detail:
        return key == "msg" || key == "message" ? text_in(detail_) : Expected{};
      default:
        return {};
    }
  }

  Expected document_member(std::string_view key) {
    if (key == "choices") return object_at(Place::choices);
    if (key == "usage") return object_at(Place::usage);
    if (key == "error") {
      auto expected = text_in(error_text_);
      expected.inside = Place::error;
      return expected;
    }
    if (key == "message") return text_in(loose_.message);
    if (key == "type") return text_in(loose_.type);
    if (key == "code") return verbatim_in(loose_code_);
    if (key == "detail") {
      auto expected = text_in(detail_);
      expected.inside = Place::detail;
      return expected;
    }
    return {};
  }

  Expected choice_member(std::string_view key) {
    if (key == "delta") return object_at(Place::delta);
    if (key == "finish_reason") return text_in(chunk_->finish_reason);
    return {};
  }

  Expected delta_member(std::string_view key) {
    if (key == "content" || key == "refusal") return text_in(chunk_->text);
    if (key == "reasoning_content") return text_in(chunk_->reasoning);
    if (key == "reasoning") return text_in(other_reasoning_);  // Some servers send both, with the same text.
    if (key == "tool_calls") return object_at(Place::tool_calls);
    return {};
  }

  Expected tool_call_member(std::string_view key) {
    auto& call = chunk_->tool_calls.back();
    if (key == "index") return number_in(call.index);
    if (key == "id") return text_in(call.id);
    if (key == "function") return object_at(Place::function);
    return {};
  }

  Expected function_member(std::string_view key) {
    auto& call = chunk_->tool_calls.back();
    if (key == "name") return text_in(call.name);
    if (key == "arguments") {
      auto expected = text_in(call.arguments);
      expected.inside = Place::arguments;
      return expected;
    }
    return {};
  }

  Expected error_member(std::string_view key) {
    if (key == "message") return text_in(chunk_->error->message);
    if (key == "type") return text_in(chunk_->error->type);
    if (key == "code") return verbatim_in(error_code_);
    return {};
  }

  void append_verbatim(json::string_view part) {
    if (!*expected_.verbatim) expected_.verbatim->emplace();
    (*expected_.verbatim)->append(part.data(), part.size());
  }

  void take_usage() {
    auto usage = collect_usage(direct_, metadata_);
    if (usage != ReportedUsage{}) chunk_->usage = std::move(usage);
  }

  // Errors such as `{"code","message"}` and `{"detail"}` without an error object around them.
  void take_loose_error() {
    if (loose_.message.empty()) loose_.message.swap(detail_);
    if (loose_.message.empty()) return;
    loose_.code = loose_code_.value_or("");
    chunk_->error = loose_;
  }

  Chunk* chunk_ = nullptr;
  std::array<Place, kMaxDepth + 1> places_{};
  std::size_t depth_ = 0;
  Expected expected_;
  std::string key_;  // The first parts of a key that comes in parts.
  bool was_object_ = false;
  bool has_choices_ = false;
  std::string other_reasoning_;
  UsageFields direct_;
  UsageFields metadata_;
  UsageFields* level_ = &direct_;
  std::optional<std::string> error_code_;
  std::string error_text_;
  std::string detail_;
  ProviderError loose_;
  std::optional<std::string> loose_code_;
};

class ChunkReader::Parser {
 public:
  enum class Utf8 { checked, any };
  explicit Parser(Utf8 utf8) : parser_{options(utf8)} {}

  bool read(std::string_view json, Chunk& chunk) {
    parser_.reset();
    auto& handler = parser_.handler();
    handler.begin(chunk);
    json::error_code error;
    auto const used = parser_.write_some(false, json.data(), json.size(), error);
    return !error && used == json.size() && handler.finish();
  }

 private:
  static json::parse_options options(Utf8 utf8) {
    json::parse_options options;
    options.max_depth = kMaxDepth;
    options.allow_invalid_utf8 = utf8 == Utf8::any;
    return options;
  }

  json::basic_parser<Handler> parser_;
};

ChunkReader::ChunkReader() : parser_{std::make_unique<Parser>(Parser::Utf8::checked)} {}
ChunkReader::~ChunkReader() = default;

bool ChunkReader::read(std::string_view json, Chunk& chunk) {
  if (parser_->read(json, chunk)) return true;
  if (is_utf8(json)) return read_mended(json, chunk);
  auto const valid = to_valid_utf8(json);
  return parser_->read(valid, chunk) || read_mended(valid, chunk);
}

// Servers that cut a text between UTF-16 units leave half of a surrogate pair at the end of a chunk.
bool ChunkReader::read_mended(std::string_view json, Chunk& chunk) {
  auto const mended = mend_surrogates(json, LoneHalf::kept);
  if (mended == json) return false;
  if (!lenient_) lenient_ = std::make_unique<Parser>(Parser::Utf8::any);
  if (!lenient_->read(mended, chunk)) return false;
  for (auto& call : chunk.tool_calls) {
    call.id = to_valid_utf8(call.id);
    call.name = to_valid_utf8(call.name);
  }
  chunk.finish_reason = to_valid_utf8(chunk.finish_reason);
  if (!chunk.error) return true;
  for (auto* text : {&chunk.error->message, &chunk.error->type, &chunk.error->code})
    *text = to_valid_utf8(*text);
  return true;
}

}  // namespace runnel::model

#include "runnel/runtime/model_calls/call_preview.h"

#include <algorithm>

#include "runnel/flow/clipped.h"

namespace runnel::runtime {

namespace {

constexpr std::size_t kLongestName = 64;
constexpr std::size_t kLongestIntent = 500;  // Bytes.

// No field of the arguments is shown as it arrives, so that all of them end up among the complete ones.
flow::LiveObject whole_fields() {
  return flow::LiveObject{"\n", [](boost::json::object const&) { return false; }};
}

// How much of the arguments is read in advance: what names the method comes first.
constexpr std::size_t kMostRead = std::size_t{16} * 1024;

// Whether it can be the name of a module or a method. Anything else will be refused, so it is not announced.
bool is_plain_name(std::string_view name) {
  return !name.empty() && name.size() <= kLongestName && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

}  // namespace

CallPreview::CallPreview(std::size_t index) : index_{index}, arguments_{whole_fields()} {}

std::string CallPreview::text_of(std::string_view field) const {
  auto const* const value = arguments_.fields().if_contains(field);
  auto const* const text = value != nullptr ? value->if_string() : nullptr;
  return text != nullptr ? std::string{*text} : std::string{};
}

void CallPreview::feed(std::string_view piece, std::vector<Fact>& facts) {
  read_ += piece.size();
  if (done_ || read_ > kMostRead) return;
  std::string none;
  arguments_.feed(piece, none);
  auto intent = flow::clipped(text_of("intent"), kLongestIntent);
  if (name_.empty()) {
    auto const module = text_of("module");
    auto const method = text_of("method");
    if (!is_plain_name(module) || !is_plain_name(method)) return;
    name_ = module + "." + method;
    facts.emplace_back(ToolPreparing{preparing_id(name_, index_), name_, intent});
  }
  if (intent.empty()) return;
  facts.emplace_back(ToolIntent{preparing_id(name_, index_), name_, std::move(intent)});
  done_ = true;
}

}  // namespace runnel::runtime

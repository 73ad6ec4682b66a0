#include "runnel/model/openai/tool_calls.h"

#include <algorithm>
#include <utility>

#include "runnel/core/ids.h"
#include "runnel/core/json/parse.h"

namespace runnel::model {
namespace {

constexpr std::size_t kMaxCalls = 128;
// More than models write in one answer, and more than one call may have. A run keeps the arguments of all its
// turns in memory, several times.
constexpr std::size_t kMaxArgumentBytes = std::size_t{1024} * 1024;

bool is_blank(std::string const& text) {
  return text.find_first_not_of(" \t\r\n") == std::string::npos;
}

bool is_whole(std::string const& arguments) {
  return !is_blank(arguments) && !check_json_text(arguments);
}

std::string mint_id() {
  return "call_" + mint_uuid();
}

}  // namespace

bool ToolCallAssembler::add(std::vector<ToolCallDelta> fragments, std::vector<CallEvent>& events) {
  for (std::size_t at = 0; at < fragments.size(); ++at) {
    argument_bytes_ += fragments[at].arguments.size();
    if (argument_bytes_ > kMaxArgumentBytes) return false;
    auto* const part = part_for(fragments[at], at, fragments.size() == 1);
    if (part == nullptr) return false;
    extend(*part, std::move(fragments[at]), events);
  }
  return true;
}

bool ToolCallAssembler::finish(std::vector<CallEvent>& events) {
  for (auto& part : parts_) {
    ToolCallDelta rest;
    rest.arguments = part.halves.finish();
    if (!rest.arguments.empty()) extend(part, std::move(rest), events);
    if (part.shown) continue;
    if (!part.call.name.empty()) {
      show(part, events);
    } else if (!is_blank(part.call.arguments)) {
      return false;
    }
  }
  return true;
}

std::vector<ToolCall> ToolCallAssembler::take() {
  std::vector<ToolCall> calls;
  for (auto& part : parts_) {
    if (!part.shown) continue;
    if (is_blank(part.call.arguments)) part.call.arguments = "{}";
    calls.push_back(std::move(part.call));
  }
  parts_.clear();
  return calls;
}

ToolCallAssembler::Part* ToolCallAssembler::part_for(ToolCallDelta const& fragment, std::size_t position,
                                                     bool alone) {
  if (fragment.index) return part_by_index(fragment);
  if (!fragment.id.empty()) return part_by_id(fragment);
  return part_by_position(fragment, position, alone);
}

ToolCallAssembler::Part* ToolCallAssembler::part_by_index(ToolCallDelta const& fragment) {
  auto const newest = std::find_if(parts_.rbegin(), parts_.rend(),
                                   [&](Part const& part) { return part.index == fragment.index; });
  if (newest == parts_.rend()) return open(fragment.index);
  bool const another = !fragment.id.empty() && !fragment.name.empty() && !newest->call.id.empty() &&
                       newest->call.id != fragment.id;
  return another ? open(fragment.index) : &*newest;
}

ToolCallAssembler::Part* ToolCallAssembler::part_by_id(ToolCallDelta const& fragment) {
  auto const same = std::find_if(parts_.begin(), parts_.end(),
                                 [&](Part const& part) { return part.call.id == fragment.id; });
  return same == parts_.end() ? open(std::nullopt) : &*same;
}

ToolCallAssembler::Part* ToolCallAssembler::part_by_position(ToolCallDelta const& fragment,
                                                             std::size_t position, bool alone) {
  if (parts_.empty()) return open(std::nullopt);
  if (alone && fragment.name.empty()) return &parts_[grew_last_];
  if (position >= parts_.size()) return open(std::nullopt);
  auto& part = parts_[position];
  bool const another_name =
      !fragment.name.empty() && !part.call.name.empty() && part.call.name != fragment.name;
  bool const same_again = !fragment.name.empty() && is_whole(part.call.arguments);
  return another_name || same_again ? open(std::nullopt) : &part;
}

ToolCallAssembler::Part* ToolCallAssembler::open(std::optional<std::int64_t> index) {
  if (parts_.size() == kMaxCalls) return nullptr;
  auto& part = parts_.emplace_back();
  part.index = index;
  return &part;
}

void ToolCallAssembler::extend(Part& part, ToolCallDelta fragment, std::vector<CallEvent>& events) {
  grew_last_ = number_of(part);
  auto& call = part.call;
  if (call.name.empty()) call.name = std::move(fragment.name);
  if (call.id.empty()) call.id = std::move(fragment.id);
  part.halves.join(fragment.arguments);
  call.arguments += fragment.arguments;
  if (part.shown) {
    if (fragment.arguments.empty()) return;
    ToolCallPiece piece;
    piece.index = number_of(part);
    piece.arguments = std::move(fragment.arguments);
    events.emplace_back(std::move(piece));
  } else if (!call.name.empty() && !(call.id.empty() && call.arguments.empty())) {
    show(part, events);
  }
}

void ToolCallAssembler::show(Part& part, std::vector<CallEvent>& events) {
  auto& call = part.call;
  bool const taken = std::any_of(parts_.begin(), parts_.end(), [&](Part const& other) {
    return &other != &part && other.shown && other.call.id == call.id;
  });
  if (call.id.empty() || taken) call.id = mint_id();
  part.shown = true;
  ToolCallPiece piece;
  piece.index = number_of(part);
  piece.id = call.id;
  piece.name = call.name;
  piece.arguments = call.arguments;
  events.emplace_back(std::move(piece));
}

}  // namespace runnel::model

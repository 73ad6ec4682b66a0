#include "runnel/runtime/lifecycle/resume_input.h"

#include <boost/json.hpp>

#include <utility>

#include "runnel/core/ids.h"
#include "runnel/core/text/text.h"

namespace runnel::runtime {

namespace json = boost::json;

namespace {

// As in the answer to the approvals' route.
constexpr std::size_t kLongestReason = 1000;

using Problem = std::optional<BadResume>;

Problem wrong_resume(std::string what) {
  return BadResume{std::move(what)};
}

// Null if the member is absent or null.
json::value const* present_member(json::object const& object, std::string_view key) {
  auto const* const value = object.if_contains(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

std::string text_or_empty(json::value const* value) {
  return value != nullptr && value->is_string() ? std::string{value->get_string()} : std::string{};
}

// Other members are refused: whoever sends changed arguments, for example, must learn that the call would be
// made with those that were shown.
Problem check_keys(json::object const& payload) {
  for (auto const& entry : payload) {
    std::string_view const key = entry.key();
    if (key == "approved" || key == "reason") continue;
    return wrong_resume(
        "'resume[0].payload' has a key other than 'approved' and 'reason'; the call is made with the "
        "arguments "
        "that were shown, or not at all");
  }
  return std::nullopt;
}

Problem read_reason(json::object const& payload, ResumeAnswer& answer) {
  auto const* const reason = present_member(payload, "reason");
  if (reason == nullptr) return std::nullopt;
  if (!reason->is_string()) return wrong_resume("'resume[0].payload.reason' must be a string");
  answer.reason = text_or_empty(reason);
  if (count_code_points(answer.reason) > kLongestReason) {
    return wrong_resume("'resume[0].payload.reason' must have at most " + std::to_string(kLongestReason) +
                        " characters");
  }
  return std::nullopt;
}

Problem read_payload(json::object const& entry, bool resolved, ResumeAnswer& answer) {
  auto const* const value = present_member(entry, "payload");
  if (value == nullptr && !resolved) return std::nullopt;
  if (value == nullptr || !value->is_object()) {
    return wrong_resume(
        "'resume[0].payload' must be an object such as {\"approved\":true}, with a 'reason' if you like");
  }
  auto const& payload = value->get_object();
  if (auto problem = check_keys(payload)) return problem;
  auto const* const approved = payload.if_contains("approved");
  bool const says = approved != nullptr && approved->is_bool();
  if (!says && (resolved || approved != nullptr)) {
    return wrong_resume("'resume[0].payload.approved' must be true or false");
  }
  answer.approved = says && approved->get_bool();
  if (answer.approved && !resolved) {
    return wrong_resume(
        "'resume[0]' is cancelled and approved: send the status 'resolved' to approve the call");
  }
  return read_reason(payload, answer);
}

Problem read_entry(json::value const& value, ResumeAnswer& answer) {
  auto const* const entry = value.if_object();
  if (entry == nullptr) return wrong_resume("each entry of 'resume' must be an object");
  answer.interrupt = text_or_empty(entry->if_contains("interruptId"));
  if (!is_usable_id(answer.interrupt)) {
    return wrong_resume(
        "'resume[0].interruptId' must be the id of the interrupt that waits, as its stream shows it");
  }
  auto const status = text_or_empty(entry->if_contains("status"));
  if (status != "resolved" && status != "cancelled")
    return wrong_resume("'resume[0].status' must be 'resolved' or 'cancelled'");
  auto const* const metadata = present_member(*entry, "metadata");
  if (metadata != nullptr && !metadata->is_object())
    return wrong_resume("'resume[0].metadata' must be an object");
  return read_payload(*entry, status == "resolved", answer);
}

}  // namespace

std::variant<std::optional<ResumeAnswer>, BadResume> read_resume(json::object const& body) {
  auto const* const value = present_member(body, "resume");
  if (value == nullptr) return std::nullopt;
  if (!value->is_array()) return BadResume{"'resume' must be a list"};
  auto const& entries = value->get_array();
  if (entries.empty()) return std::nullopt;
  if (entries.size() > 1) {
    return BadResume{"'resume' has " + std::to_string(entries.size()) +
                     " entries; a thread waits for one answer at a time, so send one entry"};
  }
  ResumeAnswer answer;
  if (auto problem = read_entry(entries.front(), answer)) return std::move(*problem);
  return answer;
}

}  // namespace runnel::runtime

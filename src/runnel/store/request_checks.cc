#include "runnel/store/request_checks.h"

#include <boost/json/value.hpp>

#include <set>
#include <string>
#include <string_view>
#include <variant>

#include "runnel/core/json/parse.h"

namespace runnel::store {

namespace {

// Text in PostgreSQL cannot hold a NUL.
bool has_nul(std::string const& text) {
  return text.find('\0') != std::string::npos;
}

Result<void> check(NewMessage const& message) {
  if (message.id.empty()) return Error{Errc::invalid, "a message has no id"};
  if (has_nul(message.id.text) || has_nul(message.content) || has_nul(message.metadata)) {
    return Error{Errc::invalid,
                 "message " + message.id.text + " holds a NUL character, which cannot be stored"};
  }
  return {};
}

Result<void> check(LogBatch const& facts) {
  if (facts.first_n < 1 || facts.last_n < facts.first_n || facts.body.empty()) {
    return Error{
        Errc::invalid,
        "a batch of facts numbered " + std::to_string(facts.first_n) + " to " + std::to_string(facts.last_n) +
            " is invalid: it must start at 1 or later, must not end before its start, and must have a body"};
  }
  if (has_nul(facts.body))
    return Error{Errc::invalid, "a batch of facts holds a NUL character, which cannot be stored"};
  return {};
}

Result<void> check_first(LogBatch const& facts) {
  if (facts.first_n != 1) return Error{Errc::invalid, "the first batch of a run's facts must start at 1"};
  return check(facts);
}

Result<void> check(Begin const& begin) {
  if (auto ok = check_title(begin.title); !ok) return ok;
  if (!begin.user_message.id.empty()) {
    if (auto ok = check(begin.user_message); !ok) return ok;
  }
  for (auto const& closing : begin.closings) {
    if (auto ok = check(closing); !ok) return ok;
    if (closing.closes_call.empty() || has_nul(closing.closes_call.text))
      return Error{Errc::invalid,
                   "message " + closing.id.text + " closes no call, or one with a NUL in its id"};
  }
  return check_first(begin.facts);
}

Result<void> check(CallEnd const& end) {
  if (end.status == CallStatus::open)
    return Error{Errc::invalid, "call " + end.id + " cannot end with the status open"};
  if (has_nul(end.id) || has_nul(end.error_code) || has_nul(end.cost.price)) {
    return Error{Errc::invalid, "the end of a call holds a NUL character, which cannot be stored"};
  }
  return {};
}

// An engine may compare the number of changed rows with the number of calls, so an id that occurs twice must
// not count as two calls.
template <class Named>
Result<void> check_distinct(std::vector<Named> const& calls, char const* what) {
  std::set<std::string_view> ids;
  for (auto const& call : calls) {
    if (!ids.insert(call.id).second) {
      return Error{Errc::invalid, "call " + call.id + " is " + what + " twice in one request"};
    }
  }
  return {};
}

// USE-8: a message's cost is the sum of the costs of its calls.
Result<void> check_booked_sum(NewMessage const& message, std::vector<CallBooking> const& bookings) {
  MoneyTotal total;
  for (auto const& booking : bookings) {
    if (booking.message == message.id) total.add(booking.cost);
  }
  if (total.equals(message.cost)) return {};
  return Error{Errc::invalid, "message " + message.id.text + " costs " + to_decimal(message.cost) +
                                  ", but its calls cost " + to_decimal(total) + "; both must be equal"};
}

Result<void> check_calls(AppendRequest const& request) {
  for (auto const& end : request.call_ends) {
    if (auto ok = check(end); !ok) return ok;
  }
  for (auto const& booking : request.bookings) {
    if (has_nul(booking.id) || has_nul(booking.message.text)) {
      return Error{Errc::invalid, "a booking holds a NUL character, which cannot be stored"};
    }
  }
  if (auto ok = check_distinct(request.call_ends, "ended"); !ok) return ok;
  if (auto ok = check_distinct(request.bookings, "booked"); !ok) return ok;
  for (auto const& message : request.messages) {
    if (auto ok = check_booked_sum(message, request.bookings); !ok) return ok;
  }
  return {};
}

// A checkpoint's body may contain documents, each of which may be as deep as an input document.
constexpr std::size_t kCheckpointDepth = 2 * kDefaultJsonDepth;

bool is_json_object(std::string const& text, std::size_t max_depth) {
  auto const first = text.find_first_not_of(" \t\r\n");
  return first != std::string::npos && text[first] == '{' && !check_json_text(text, max_depth);
}

Result<void> check(Checkpoint const& checkpoint) {
  auto const name = "checkpoint " + std::to_string(checkpoint.number);
  if (checkpoint.kind.empty()) return Error{Errc::invalid, name + " has no kind"};
  if (has_nul(checkpoint.stage) || has_nul(checkpoint.kind)) {
    return Error{Errc::invalid, name + " holds a NUL character, which cannot be stored"};
  }
  if (!is_json_object(checkpoint.body, kCheckpointDepth)) {
    return Error{Errc::invalid, "the body of " + name + " is not a JSON object"};
  }
  return {};
}

Result<void> check(std::vector<Checkpoint> const& checkpoints) {
  for (std::size_t i = 0; i < checkpoints.size(); ++i) {
    if (auto ok = check(checkpoints[i]); !ok) return ok;
    if (i > 0 && checkpoints[i].number != checkpoints[i - 1].number + 1) {
      return Error{Errc::invalid, "checkpoint " + std::to_string(checkpoints[i].number) +
                                      " follows checkpoint " + std::to_string(checkpoints[i - 1].number) +
                                      "; their numbers must have no gaps"};
    }
  }
  return {};
}

Result<void> check_tool_calls(AppendRequest const& request) {
  std::set<std::string_view> ended;
  for (auto const& id : request.tool_ends) {
    if (has_nul(id.text) || !ended.insert(id.text).second) {
      return Error{Errc::invalid, "a tool call ends twice in one request, or its id holds a NUL character"};
    }
  }
  for (auto const& start : request.tool_starts) {
    if (start.id.empty() || start.args_hash.size() != 64) {
      return Error{Errc::invalid, "a tool call needs an id and the SHA-256 of its arguments"};
    }
    if (has_nul(start.id.text) || has_nul(start.name) || has_nul(start.args_hash)) {
      return Error{Errc::invalid, "a tool call holds a NUL character, which cannot be stored"};
    }
  }
  return {};
}

Result<void> check_no_tool_calls(AppendRequest const& request) {
  if (request.tool_starts.empty() && request.tool_ends.empty()) return {};
  return Error{Errc::invalid, "the end of a run closes its tool calls and can start or end none itself"};
}

}  // namespace

Result<void> check(AdmitRequest const& request) {
  if (request.owner.empty() || request.thread.empty() || request.run.empty()) {
    return Error{Errc::invalid, "admit needs an owner, a thread and a run"};
  }
  if (has_nul(request.input) || has_nul(request.country)) {
    return Error{Errc::invalid, "run " + request.run.text +
                                    ": its input or country holds a NUL character, which cannot be stored"};
  }
  return check(request.begin);
}

Result<void> check(ClaimRequest const& request) {
  return request.begin ? check(*request.begin) : Result<void>{};
}

Result<void> check(AppendRequest const& request) {
  for (auto const& message : request.messages) {
    if (auto ok = check(message); !ok) return ok;
    if (!message.closes_call.empty() || has_nul(message.opens_call.text)) {
      return Error{Errc::invalid,
                   "message " + message.id.text +
                       " closes a call of the client's, which only the beginning of a run can, "
                       "or opens one with a NUL in its id"};
    }
  }
  if (auto ok = check_calls(request); !ok) return ok;
  if (auto ok = check(request.checkpoints); !ok) return ok;
  if (auto ok = check_tool_calls(request); !ok) return ok;
  return check(request.facts);
}

Result<void> check(EndRequest const& request) {
  if (!is_ended(request.status)) {
    return Error{Errc::invalid, std::string{"a run cannot end with the status "} + to_string(request.status)};
  }
  if (request.if_canceled) {
    auto const& other = request.if_canceled->append;
    if (other.run != request.append.run || other.epoch != request.append.epoch ||
        other.facts.first_n != request.append.facts.first_n) {
      return Error{Errc::invalid,
                   "the two endings of a run must have the same run, epoch and first fact number"};
    }
    if (auto ok = check_no_tool_calls(other); !ok) return ok;
    if (auto ok = check(other); !ok) return ok;
  }
  if (auto ok = check_no_tool_calls(request.append); !ok) return ok;
  return check(request.append);
}

Result<void> check(ForceEndRequest const& request) {
  return check(request.end);
}

Result<void> check(DiscardRequest const& request) {
  return check_first(request.facts);
}

Result<void> check(NewCall const& call) {
  if (call.id.empty() || call.provider.empty() || call.model.empty()) {
    return Error{Errc::invalid, "a call needs an id, a provider and a model"};
  }
  if (has_nul(call.id) || has_nul(call.stage) || has_nul(call.provider) || has_nul(call.model)) {
    return Error{Errc::invalid, "a call holds a NUL character, which cannot be stored"};
  }
  if (call.started_at < 0) return Error{Errc::invalid, "call " + call.id + " began before 1970"};
  return {};
}

Result<void> check_title(std::string const& title) {
  if (has_nul(title)) return Error{Errc::invalid, "a title holds a NUL character, which cannot be stored"};
  return {};
}

}  // namespace runnel::store

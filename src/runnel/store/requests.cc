#include "runnel/store/requests.h"

#include <boost/json/value.hpp>

#include <set>
#include <string>
#include <string_view>
#include <variant>

#include "runnel/core/json_parse.h"

namespace runnel::store {

namespace {

// PostgreSQL's text cannot hold it.
bool has_nul(std::string const& text) {
  return text.find('\0') != std::string::npos;
}

Result<void> check(NewMessage const& message) {
  if (message.id.empty()) return Error{Errc::invalid, "a message without id"};
  if (has_nul(message.id.text) || has_nul(message.content) || has_nul(message.metadata)) {
    return Error{Errc::invalid, "message " + message.id.text + " holds a NUL"};
  }
  return {};
}

Result<void> check(LogBatch const& facts) {
  if (facts.first_n < 1 || facts.last_n < facts.first_n || facts.body.empty()) {
    return Error{Errc::invalid, "a batch of facts numbered " + std::to_string(facts.first_n) + " to " +
                                    std::to_string(facts.last_n)};
  }
  if (has_nul(facts.body)) return Error{Errc::invalid, "facts that hold a NUL"};
  return {};
}

Result<void> check_first(LogBatch const& facts) {
  if (facts.first_n != 1) return Error{Errc::invalid, "a run's first facts start at 1"};
  return check(facts);
}

Result<void> check(Begin const& begin) {
  if (auto ok = check_title(begin.title); !ok) return ok;
  if (auto ok = check(begin.user_message); !ok) return ok;
  return check_first(begin.facts);
}

Result<void> check(CallEnd const& end) {
  if (end.status == CallStatus::open) return Error{Errc::invalid, "call " + end.id + " does not end as open"};
  if (has_nul(end.id) || has_nul(end.error_code) || has_nul(end.cost.price)) {
    return Error{Errc::invalid, "the end of a call holds a NUL"};
  }
  return {};
}

// An engine counts the rows that it changed: an id that occurs twice would pass for two.
template <class Named>
Result<void> check_distinct(std::vector<Named> const& calls, char const* what) {
  std::set<std::string_view> ids;
  for (auto const& call : calls) {
    if (!ids.insert(call.id).second) {
      return Error{Errc::invalid, "call " + call.id + " is " + what + " twice at once"};
    }
  }
  return {};
}

// USE-8: a message's cost is the sum of its calls.
Result<void> check_booked_sum(NewMessage const& message, std::vector<CallBooking> const& bookings) {
  MoneyTotal total;
  for (auto const& booking : bookings) {
    if (booking.message == message.id) total.add(booking.cost);
  }
  if (total.equals(message.cost)) return {};
  return Error{Errc::invalid, "message " + message.id.text + " costs " + to_decimal(message.cost) +
                                  ", its calls " + to_decimal(total)};
}

Result<void> check_calls(AppendRequest const& request) {
  for (auto const& end : request.call_ends) {
    if (auto ok = check(end); !ok) return ok;
  }
  for (auto const& booking : request.bookings) {
    if (has_nul(booking.id) || has_nul(booking.message.text)) {
      return Error{Errc::invalid, "a booking holds a NUL"};
    }
  }
  if (auto ok = check_distinct(request.call_ends, "ended"); !ok) return ok;
  if (auto ok = check_distinct(request.bookings, "booked"); !ok) return ok;
  for (auto const& message : request.messages) {
    if (auto ok = check_booked_sum(message, request.bookings); !ok) return ok;
  }
  return {};
}

// A body may hold documents that are as deep as any is let in.
constexpr std::size_t kCheckpointDepth = 2 * kDefaultJsonDepth;

bool is_json_object(std::string const& text, std::size_t max_depth) {
  auto const first = text.find_first_not_of(" \t\r\n");
  return first != std::string::npos && text[first] == '{' && !check_json_text(text, max_depth);
}

Result<void> check(Checkpoint const& checkpoint) {
  auto const name = "checkpoint " + std::to_string(checkpoint.number);
  if (checkpoint.kind.empty()) return Error{Errc::invalid, name + " is of no kind"};
  if (has_nul(checkpoint.stage) || has_nul(checkpoint.kind)) {
    return Error{Errc::invalid, name + " holds a NUL"};
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
      return Error{Errc::invalid, "checkpoint " + std::to_string(checkpoints[i].number) + " right after " +
                                      std::to_string(checkpoints[i - 1].number)};
    }
  }
  return {};
}

}  // namespace

Result<void> check(AdmitRequest const& request) {
  if (request.owner.empty() || request.thread.empty() || request.run.empty()) {
    return Error{Errc::invalid, "admit needs an owner, a thread and a run"};
  }
  if (has_nul(request.input) || has_nul(request.default_country)) {
    return Error{Errc::invalid, "run " + request.run.text + ": the input holds a NUL"};
  }
  return check(request.begin);
}

Result<void> check(ClaimRequest const& request) {
  return request.begin ? check(*request.begin) : Result<void>{};
}

Result<void> check(AppendRequest const& request) {
  for (auto const& message : request.messages) {
    if (auto ok = check(message); !ok) return ok;
  }
  if (auto ok = check_calls(request); !ok) return ok;
  if (auto ok = check(request.checkpoints); !ok) return ok;
  return check(request.facts);
}

Result<void> check(EndRequest const& request) {
  if (!is_ended(request.status)) {
    return Error{Errc::invalid, std::string{"a run does not end as "} + to_string(request.status)};
  }
  if (request.if_canceled) {
    auto const& other = request.if_canceled->append;
    if (other.run != request.append.run || other.epoch != request.append.epoch ||
        other.facts.first_n != request.append.facts.first_n) {
      return Error{Errc::invalid, "two endings of a run that do not begin at the same place"};
    }
    if (auto ok = check(other); !ok) return ok;
  }
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
    return Error{Errc::invalid, "a call holds a NUL"};
  }
  if (call.started_at < 0) return Error{Errc::invalid, "call " + call.id + " began before 1970"};
  return {};
}

Result<void> check(NewTicket const& ticket) {
  if (ticket.hash.empty() || ticket.owner.empty()) {
    return Error{Errc::invalid, "a ticket needs a hash and an owner"};
  }
  if (has_nul(ticket.thread.text) || has_nul(ticket.run.text)) {
    return Error{Errc::invalid, "a ticket for a name that holds a NUL"};
  }
  return {};
}

Result<void> check(ProfileRow const& profile) {
  if (has_nul(profile.username) || has_nul(profile.bio) || has_nul(profile.country)) {
    return Error{Errc::invalid, "a profile holds a NUL"};
  }
  if (!profile.country.empty() && profile.country.size() != 2) {
    return Error{Errc::invalid, "a profile's country has two letters"};
  }
  if (!profile.settings) return {};
  auto const settings = parse_json(*profile.settings);
  auto const* const document = std::get_if<boost::json::value>(&settings);
  if (document == nullptr || !document->is_object()) {
    return Error{Errc::invalid, "the settings of a profile are not a JSON object that every engine can keep"};
  }
  return {};
}

Result<void> check_title(std::string const& title) {
  if (has_nul(title)) return Error{Errc::invalid, "a title that holds a NUL"};
  return {};
}

}  // namespace runnel::store

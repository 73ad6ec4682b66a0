#include "runnel/model/builtin/offline_request.h"

#include <array>
#include <utility>

#include "runnel/core/text/text.h"
#include "runnel/model/builtin/offline_tone.h"
#include "runnel/model/builtin/offline_understanding.h"
#include "runnel/model/builtin/offline_words.h"

namespace runnel::model {
namespace {

// What is missing in the words for a time, if anything.
Missing missing_in(When const& when) {
  if (when.impossible) return Missing::possible_time;
  if (when.ambiguous) return Missing::one_time;
  return Missing::nothing;
}

void check_event(Request& request) {
  request.missing = missing_in(request.when);
  if (request.missing != Missing::nothing) return;
  bool const named = !request.words.terms.empty() || request.when.day || request.when.start;
  if (!named) request.missing = Missing::event;
}

void check_target(Request& request) {
  if (request.missing != Missing::nothing || request.shift_minutes) return;
  request.missing = missing_in(request.target);
  if (request.missing == Missing::nothing && !request.target.day && !request.target.says_time())
    request.missing = Missing::time;
}

void check_share(Request& request) {
  if (request.person.empty()) {
    request.missing = Missing::person;
  } else {
    check_event(request);
  }
}

bool has_passed(When const& when, Moment const& moment) {
  if (!when.day || !when.rule.empty()) return false;
  auto const today = moment.today();
  if (!when.start) return when.day->last < today;
  return instant_of(moment.zone, when.day->first, *when.start) < moment.now_ms;
}

void check_new_event(Request& request, Moment const& moment) {
  auto const& when = request.when;
  request.missing = missing_in(when);
  if (request.missing != Missing::nothing) return;
  bool const whole_days = when.all_day || when.days || (when.day && when.day->is_span);
  if (!when.says_time() && !(whole_days && when.day)) {
    request.missing = Missing::time;
  } else if (request.name.title.empty()) {
    request.missing = Missing::title;
  } else if (has_passed(when, moment)) {
    request.missing = Missing::time_to_come;
  }
}

void check(Request& request, Moment const& moment) {
  switch (request.ask) {
    case Ask::create_event:
      return check_new_event(request, moment);
    case Ask::move_event:
      check_event(request);
      return check_target(request);
    case Ask::delete_event:
      return check_event(request);
    case Ask::share_event:
      return check_share(request);
    case Ask::read_events:
    case Ask::find_event:
      request.missing = missing_in(request.when);
      return;
    case Ask::find_contact:
      if (request.person.empty()) request.missing = Missing::person;
      return;
    case Ask::remember:
      if (request.note.secret) request.missing = Missing::no_secret;
      return;
    default:
      return;
  }
}

}  // namespace

Request understand(std::string const& words, Moment const& moment) {
  Request request;
  auto const text = to_offline_text(words);
  if (text && !trimmed(text->lower).empty()) {
    using Rule = bool (*)(Sentence const&, Request&);
    constexpr std::array<Rule, 9> kRules{&asks_to_recall,   &asks_to_remember, &asks_about_invites,
                                         &asks_to_share,    &asks_to_move,     &asks_to_delete,
                                         &asks_for_contact, &asks_to_read,     &asks_to_create};
    Sentence const sentence{*text, moment};
    for (auto const rule : kRules) {
      request = Request{};
      if (rule(sentence, request)) break;
      request = Request{};
    }
  }
  request.chinese = has_han(words);
  if (request.ask != Ask::nothing) check(request, moment);
  return request;
}

}  // namespace runnel::model

// The part of the service that closes the calls to clients' tools with which earlier runs have ended, when
// the next run of their thread begins (AGUI-6). Which calls are open is read first, because the run's first
// facts tell of them; the store then refuses a beginning that closes others than those.
#include <algorithm>
#include <numeric>
#include <utility>

#include "runnel/runtime/lifecycle/service.h"
#include "runnel/runtime/lifecycle/start_refusals.h"
#include "runnel/runtime/writing/store_retry.h"

namespace runnel::runtime {

using store::Async;

namespace {

// How often the open calls are read for one admission. They change only if runs of the thread begin and end
// meanwhile.
constexpr int kMostClosingTries = 5;

Error no_client_calls() {
  return {Errc::internal, "this service has no calls of clients' tools"};
}

bool is_open(std::vector<store::OpenClientCall> const& open, ToolCallId const& call) {
  return std::any_of(open.begin(), open.end(), [&](auto const& candidate) { return candidate.call == call; });
}

// An earlier answer to the same call, or null.
ClientAnswer const* earlier_answer(std::vector<ClientAnswer> const& answers, ToolCallId const& call) {
  auto const found =
      std::find_if(answers.begin(), answers.end(), [&](auto const& answer) { return answer.call == call; });
  return found != answers.end() ? &*found : nullptr;
}

Refusal answered_twice(ToolCallId const& call) {
  return invalid_request("two tool messages answer the call '" + call.text +
                         "' differently; send one answer for each call");
}

std::size_t size_of(std::vector<ClientAnswer> const& answers) {
  return std::accumulate(
      answers.begin(), answers.end(), std::size_t{0},
      [](std::size_t sum, auto const& answer) { return sum + answer.content.size() + answer.error.size(); });
}

// Plain functions: g++ 12 mishandles captures in the arguments of a co_await (CONTRIBUTING.md).
Async<std::string> read_question(store::ClientCalls* calls, UserId owner, ThreadId thread,
                                 std::shared_ptr<base::Cancel> cancel) {
  return ask_until_served<std::string>(
      [calls, owner = std::move(owner), thread = std::move(thread)] {
        return calls->newest_user_text(owner, thread);
      },
      std::move(cancel));
}

Async<std::vector<ToolCallId>> read_closed(store::ClientCalls* calls, ThreadKey thread, RunKey run,
                                           std::shared_ptr<base::Cancel> cancel) {
  return ask_until_served<std::vector<ToolCallId>>(
      [calls, thread, run] { return calls->closed_by(thread, run); }, std::move(cancel));
}

CallTrouble calls_were_closed() {
  return {"TOOL_CALL_NOT_PENDING",
          "the run's input answers a tool call that did not wait for an answer any more when the run began",
          "another run has closed the call, or its run was canceled"};
}

}  // namespace

std::optional<Refusal> Service::take_client_tools(RunInput& input) const {
  auto& tools = input.client.tools;
  if (tools.empty()) return std::nullopt;
  auto const* const flow = parts_.flows.find(input.flow.empty() ? parts_.flows.default_name() : input.flow);
  if (flow != nullptr && !flow->takes_client_tools()) {
    options_.metrics.ignored_keys.add();
    tools.clear();
  }
  auto const reserved = std::find_if(tools.begin(), tools.end(), [&](ToolSpec const& tool) {
    return parts_.tools.find(tool.name) != nullptr;
  });
  if (reserved != tools.end()) return reserved_tool(reserved->name);
  return std::nullopt;
}

// Clients send their whole history, so a tool message may also be the result of a call that is long closed:
// the thread has a message with its id. Only the last messages of a reply are not forgiven if nobody knows
// them.
Async<std::variant<MatchedAnswers, Refusal>> Service::match_answers(
    UserId owner, ThreadId thread, std::vector<store::OpenClientCall> const* open,
    ClientToolsInput const* input) {
  MatchedAnswers matched;
  for (auto const& answer : input->answers) {
    bool const answers_open = is_open(*open, answer.call);
    if (!answers_open && !answer.last) continue;
    std::optional<store::ClientCalls::Message> known;
    if (!answer.message_id.empty()) {
      auto found = co_await client_calls_->message(owner, thread, answer.message_id);
      if (!found) co_return found.error();
      known = std::move(*found);
    }
    if (answers_open) {
      if (known) matched.taken.insert(answer.message_id);
      auto const* const earlier = earlier_answer(matched.answers, answer.call);
      if (earlier == nullptr) matched.answers.push_back(answer);
      if (earlier != nullptr && earlier->content != answer.content) co_return answered_twice(answer.call);
    } else if (!known || known->role != "tool") {
      co_return not_pending(answer.call);
    } else if (parts_.tools.find(tool_of(known->metadata)) == nullptr) {
      matched.has_repeat = true;
    }
  }
  co_return matched;
}

Async<std::variant<Closings, Refusal>> Service::closings_for(UserId owner, ThreadId thread, RunInput* input) {
  if (!client_calls_) co_return no_client_calls();
  bool const rolls_back = input->on_busy == store::OnBusy::rollback;
  auto const open = co_await client_calls_->open(owner, thread, rolls_back);
  if (!open) co_return open.error();
  auto matching = co_await match_answers(owner, thread, &*open, &input->client);
  if (!matching) co_return matching.error();
  if (auto* const refusal = std::get_if<Refusal>(&*matching)) co_return std::move(*refusal);
  auto& matched = std::get<MatchedAnswers>(*matching);
  if (auto const size = size_of(matched.answers); size > options_.message_bytes)
    co_return answers_too_large(size, options_.message_bytes);
  if (input->client.is_reply && matched.answers.empty()) {
    bool const has_other_input = !matched.has_repeat && !input->text.empty();
    if (!has_other_input) co_return not_pending(input->client.answers.back().call);
    // The list ends with what the server's own tools found: its newest user message is asked again.
    input->client.is_reply = false;
  }
  if (input->client.is_reply) input->client.answers = matched.answers;
  co_return close_calls(*open, matched.answers, std::move(matched.taken));
}

Async<std::variant<store::Admission, Refusal>> Service::admit(store::AdmitRequest* request, RunInput* input,
                                                              Beginning* beginning) {
  bool reads_calls = input->client.is_reply;
  if (reads_calls && input->run) {
    // The calls that a run has answered are not open any more (RUN-2).
    auto const before = co_await parts_.store.find_owned_run(request->owner, *input->run);
    if (!before) co_return before.error();
    reads_calls = !before->has_value();
  }
  Closings closings;
  for (int tries = 1;; ++tries) {
    if (reads_calls) {
      auto read = co_await closings_for(request->owner, request->thread, input);
      if (!read) co_return read.error();
      auto* const refusal = std::get_if<Refusal>(&*read);
      if (refusal != nullptr) {
        // The same request, sent twice at once, may have closed them (RUN-2).
        auto const meanwhile = co_await parts_.store.find_owned_run(request->owner, request->run);
        if (!meanwhile) co_return meanwhile.error();
        if (!meanwhile->has_value()) co_return std::move(*refusal);
      } else {
        closings = std::move(std::get<Closings>(*read));
      }
    }
    request->input = to_stored(*input);
    request->begin = make_begin(request->run, *input, closings, *beginning);
    auto admission = co_await parts_.store.admit(*request);
    // What came with a user message is written, or was an old result.
    if (admission && !input->client.is_reply) input->client.answers.clear();
    if (admission) co_return std::move(*admission);
    if (admission.error().code != Errc::open_calls || tries == kMostClosingTries) co_return admission.error();
    reads_calls = true;
  }
}

Async<Closings> Service::closings_of_queued(store::RunRow const* row, RunInput const* input) {
  Closings none;
  if (!client_calls_) co_return none;
  auto const open = co_await client_calls_->open(row->owner, row->thread_id);
  if (!open) co_return open.error();
  std::set<std::string> taken;
  for (auto const& answer : input->client.answers) {
    if (answer.message_id.empty() || !is_open(*open, answer.call)) continue;
    auto const known = co_await client_calls_->message(row->owner, row->thread_id, answer.message_id);
    if (!known) co_return known.error();
    if (*known) taken.insert(answer.message_id);
  }
  co_return close_calls(*open, input->client.answers, std::move(taken));
}

// The flow's texts show the user's newest message, which this run answers with what the client's tools found.
Async<std::optional<CallTrouble>> Service::complete_reply(Job* job, ThreadId thread,
                                                          std::shared_ptr<base::Cancel> cancel) {
  if (!job->input.client.is_reply) co_return std::nullopt;
  if (!client_calls_) co_return no_client_calls();
  auto text = co_await read_question(client_calls_.get(), job->owner, std::move(thread), cancel);
  if (!text) co_return text.error();
  job->input.text = std::move(*text);
  auto const closed = co_await read_closed(client_calls_.get(), job->thread, job->run, cancel);
  if (!closed) co_return closed.error();
  auto const& answers = job->input.client.answers;
  bool const all = std::all_of(answers.begin(), answers.end(), [&](ClientAnswer const& answer) {
    return std::find(closed->begin(), closed->end(), answer.call) != closed->end();
  });
  if (!all) co_return calls_were_closed();
  co_return std::nullopt;
}

}  // namespace runnel::runtime

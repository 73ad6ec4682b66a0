#include "runnel/http/routes/approval_routes.h"

#include <boost/json/value.hpp>

#include <string>
#include <utility>

#include "runnel/api/problem.h"
#include "runnel/core/json/write.h"
#include "runnel/core/time/instant.h"
#include "runnel/http/routes/start_answers.h"
#include "runnel/runtime/lifecycle/start_refusals.h"

namespace runnel::http {

namespace asio = boost::asio;

namespace {

// More than any user answers by hand.
constexpr std::size_t kMostListed = 200;

struct ApprovalRoutes {
  runtime::Service& service;
  base::Clock const& clock;
};

std::string text_in(boost::json::object const& body, std::string_view key) {
  auto const* const value = body.if_contains(key);
  return value != nullptr && value->is_string() ? std::string{value->get_string()} : std::string{};
}

store::ApprovalAnswer read_answer(api::Request const& request, std::int64_t now) {
  auto const& body = request.json().get_object();
  store::ApprovalAnswer answer;
  answer.owner = request.user;
  answer.thread = ThreadId{request.param("thread_id")};
  answer.call = ToolCallId{request.param("tool_call_id")};
  answer.decision =
      text_in(body, "decision") == "approve" ? store::Decision::approved : store::Decision::rejected;
  answer.reason = text_in(body, "reason");
  answer.args_hash = text_in(body, "argsHash");
  answer.now = now;
  return answer;
}

std::string decision_json(std::string const& call, store::AnswerOutcome const& outcome) {
  std::string out;
  JsonObject{out}
      .text("toolCallId", call)
      .text("status", to_string(outcome.decision))
      .text("runId", outcome.alias.text)
      .close();
  return out;
}

api::Response answered(api::Request const& request, store::AnswerOutcome const& outcome) {
  auto const& call = request.param("tool_call_id");
  switch (outcome.kind) {
    case store::AnswerOutcome::Kind::accepted:
      return api::json_response(202, decision_json(call, outcome));
    case store::AnswerOutcome::Kind::already_decided:
      return refused(runtime::already_decided(ToolCallId{call}, outcome.decision));
    case store::AnswerOutcome::Kind::other_arguments:
      return api::problem(409, "OTHER_ARGUMENTS",
                          "The tool call waits with other arguments than those of this argsHash. Look at it "
                          "again before you decide.");
    case store::AnswerOutcome::Kind::alias_taken:  // This route names no alias.
    case store::AnswerOutcome::Kind::not_found:
      break;
  }
  return api::problem(404, "NOT_FOUND",
                      "You have no such tool call on this thread that waits for an answer.");
}

asio::awaitable<api::Reply> answer_approval(ApprovalRoutes routes, api::Request request) {
  auto const outcome = co_await routes.service.answer(read_answer(request, routes.clock.now_ms()));
  if (!outcome) co_return api::problem_from(outcome.error(), request.request_id);
  co_return answered(request, *outcome);
}

void append_waiting(std::string& out, store::WaitingApproval const& waiting) {
  JsonObject{out}
      .text("threadId", waiting.thread.text)
      .text("runId", waiting.run.text)
      .text("toolCallId", waiting.call.text)
      .text("name", waiting.name)
      .raw("args", waiting.args)
      .text("argsHash", waiting.args_hash)
      .text("askedAt", to_rfc3339(waiting.asked_at))
      .text("expiresAt", to_rfc3339(waiting.expires_at))
      .close();
}

asio::awaitable<api::Reply> list_approvals(ApprovalRoutes routes, api::Request request) {
  auto const waiting = co_await routes.service.approvals_of(request.user, kMostListed);
  if (!waiting) co_return api::problem_from(waiting.error(), request.request_id);
  std::string body;
  JsonObject object{body};
  append_json_array(object.key("approvals"), *waiting, &append_waiting);
  object.close();
  co_return api::json_response(200, std::move(body));
}

}  // namespace

void add_approval_routes(api::Router& router, runtime::Service& service, base::Clock const& clock) {
  ApprovalRoutes const routes{service, clock};
  router.add(api::Method::get, "/api/v1/agent/approvals", api::Access::user,
             [routes](api::Request request) { return list_approvals(routes, std::move(request)); });
  router.add(api::Method::post, "/api/v1/agent/runs/{thread_id}/approvals/{tool_call_id}", api::Access::user,
             [routes](api::Request request) { return answer_approval(routes, std::move(request)); });
}

}  // namespace runnel::http

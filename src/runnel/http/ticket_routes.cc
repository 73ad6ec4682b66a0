#include "runnel/http/ticket_routes.h"

#include <boost/json.hpp>

#include <string>
#include <utility>
#include <variant>

#include "runnel/core/json_write.h"
#include "runnel/http/problem.h"
#include "runnel/http/text_forms.h"

namespace runnel::http {

namespace asio = boost::asio;

namespace {

Response no_such_run() {
  return problem(404, "NOT_FOUND", "no such run");
}

Response bad_body(std::string const& why) {
  return problem(400, "INVALID_REQUEST", why);
}

// The members of the body, all texts; one that is not known is named (HTTP-1).
struct Asked {
  std::string purpose;
  std::string thread;
  std::string run;
};

std::variant<Asked, Response> parse_asked(std::string const& body) {
  boost::system::error_code error;
  auto const value = boost::json::parse(body, error);
  if (error || !value.is_object()) return bad_body("the body must be a JSON object");
  Asked out;
  for (auto const& [key, member] : value.get_object()) {
    auto* const text = key == "for"        ? &out.purpose
                       : key == "threadId" ? &out.thread
                       : key == "runId"    ? &out.run
                                           : nullptr;
    if (text == nullptr) {
      return bad_body("unknown field '" + std::string{key} + "'; known: for, threadId, runId");
    }
    if (!member.is_string() || member.get_string().empty()) {
      return bad_body("'" + std::string{key} + "' must be a text that is not empty");
    }
    *text = std::string{member.get_string()};
  }
  return out;
}

std::variant<TicketOrder, Response> order_of(Asked asked) {
  TicketOrder order;
  if (asked.purpose == "websocket") {
    if (!asked.thread.empty() || !asked.run.empty()) {
      return bad_body("'threadId' and 'runId' belong to a ticket for sse");
    }
    order.kind = store::TicketKind::websocket;
    return order;
  }
  if (asked.purpose != "sse") return bad_body("'for' must be sse or websocket");
  if (asked.thread.empty() || asked.run.empty()) {
    return bad_body("a ticket for sse needs 'threadId' and 'runId'");
  }
  if (!is_usable_id(asked.thread) || !is_usable_id(asked.run)) return no_such_run();
  order.thread = ThreadId{std::move(asked.thread)};
  order.run = RunId{std::move(asked.run)};
  return order;
}

std::variant<TicketOrder, Response> order_in(Request const& request) {
  auto asked = parse_asked(request.body);
  if (auto* refusal = std::get_if<Response>(&asked)) return std::move(*refusal);
  auto order = order_of(std::move(std::get<Asked>(asked)));
  if (auto* known = std::get_if<TicketOrder>(&order)) {
    known->owner = request.user;
    known->token_expires_at = request.token_expires_at;
  }
  return order;
}

asio::awaitable<Reply> give_ticket(Tickets* tickets, Request request) {
  auto order = order_in(request);
  if (auto* refusal = std::get_if<Response>(&order)) co_return std::move(*refusal);
  auto const minted = co_await tickets->mint(std::move(std::get<TicketOrder>(order)));
  if (!minted && minted.error().code == Errc::not_found) co_return no_such_run();
  if (!minted) co_return problem_from(minted.error(), request.request_id);
  std::string body;
  JsonObject object{body};
  object.text("ticket", minted->ticket).text("expiresAt", to_rfc3339(minted->use_before)).close();
  co_return json_response(201, std::move(body));
}

}  // namespace

void add_ticket_route(Router& router, Tickets& tickets) {
  router.add(Method::post, "/api/v1/auth/tickets", Access::user,
             [&tickets](Request request) { return give_ticket(&tickets, std::move(request)); });
}

}  // namespace runnel::http

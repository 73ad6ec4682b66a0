#include "runnel/http/ticket_routes.h"

#include <boost/json.hpp>

#include <string>
#include <utility>

#include "runnel/core/json_write.h"
#include "runnel/http/problem.h"
#include "runnel/http/text_forms.h"

namespace runnel::http {

namespace asio = boost::asio;

namespace {

Response run_not_found() {
  return problem(404, "NOT_FOUND", "You have no such run on this thread.");
}

// The body fits the schema TicketOrder.
TicketOrder order_in(Request const& request) {
  auto const& body = request.json().as_object();
  TicketOrder order;
  order.owner = request.user;
  order.token_expires_at = request.token_expires_at;
  if (body.at("for") == "websocket") {
    order.kind = store::TicketKind::websocket;
    return order;
  }
  order.thread = ThreadId{std::string{body.at("threadId").as_string()}};
  order.run = RunId{std::string{body.at("runId").as_string()}};
  return order;
}

asio::awaitable<Reply> give_ticket(Tickets* tickets, Request request) {
  auto order = order_in(request);
  auto const minted = co_await tickets->mint(std::move(order));
  if (!minted && minted.error().code == Errc::not_found) co_return run_not_found();
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

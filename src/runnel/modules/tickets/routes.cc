#include <boost/json.hpp>

#include <string>
#include <utility>

#include "runnel/api/problem.h"
#include "runnel/core/json/write.h"
#include "runnel/core/time/instant.h"
#include "runnel/modules/tickets/tickets.h"

namespace runnel::modules::tickets {

namespace asio = boost::asio;

namespace {

api::Response run_not_found() {
  return api::problem(404, "NOT_FOUND", "You have no such run on this thread.");
}

// The request's body already fits the schema TicketOrder.
Target target_in(api::Request const& request) {
  auto const& body = request.json().as_object();
  if (body.at("for") == "websocket") return {};
  return {ThreadId{std::string{body.at("threadId").as_string()}},
          RunId{std::string{body.at("runId").as_string()}}};
}

asio::awaitable<api::Reply> give_ticket(Tickets* tickets, api::Request request) {
  auto const minted = co_await tickets->mint(request.user, target_in(request), request.token_expires_at);
  if (!minted && minted.error().code == Errc::not_found) co_return run_not_found();
  if (!minted) co_return api::problem_from(minted.error(), request.request_id);
  std::string body;
  JsonObject object{body};
  object.text("ticket", minted->ticket).text("expiresAt", to_rfc3339(minted->use_before)).close();
  co_return api::json_response(201, std::move(body));
}

}  // namespace

void Tickets::add_routes(api::Router& router) {
  router.add(api::Method::post, "/api/v1/auth/tickets", api::Access::user,
             [this](api::Request request) { return give_ticket(this, std::move(request)); });
}

}  // namespace runnel::modules::tickets

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

api::Response target_not_found(Target const& target) {
  return api::problem(
      404, "NOT_FOUND",
      target.run.empty() ? "You have no such thread." : "You have no such run on this thread.");
}

// The request's body already fits the schema TicketOrder.
Target target_in(api::Request const& request) {
  auto const& body = request.json().as_object();
  if (body.at("for") == "websocket") return {};
  auto const* const run = body.if_contains("runId");
  return {ThreadId{std::string{body.at("threadId").as_string()}},
          RunId{run != nullptr ? std::string{run->as_string()} : std::string{}}};
}

asio::awaitable<api::Reply> give_ticket(Tickets* tickets, api::Request request) {
  auto const target = target_in(request);
  auto const minted = co_await tickets->mint(request.user, target, request.token_expires_at);
  if (!minted && minted.error().code == Errc::not_found) co_return target_not_found(target);
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

#include "runnel/modules/contacts/routes.h"

#include <boost/json/value.hpp>

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "runnel/api/number_query.h"
#include "runnel/api/problem.h"
#include "runnel/core/time/instant.h"
#include "runnel/modules/contacts/fields.h"
#include "runnel/modules/contacts/repository.h"
#include "runnel/modules/contacts/search_terms.h"
#include "runnel/modules/storage.h"

namespace runnel::modules::contacts {

namespace asio = boost::asio;

namespace {

constexpr std::int64_t kDefaultPage = 50;
// As large as the largest page of long contacts may become.
constexpr std::size_t kListAnswer = std::size_t{1} * 1024 * 1024;
// How often a change is made again because another one came between. The chance shrinks with each time.
constexpr int kMostTries = 5;

struct ContactRoutes {
  Context context;
  Repository repository;
};

api::Response no_such_contact() {
  return api::problem(404, "NOT_FOUND", "You have no such contact.");
}

api::Response storage_full() {
  return api::problem(507, "STORAGE_QUOTA_EXCEEDED",
                      "You have no storage left. Delete something, such as threads or contacts.");
}

void append_contact(std::string& out, Contact const& contact) {
  JsonObject object{out};
  append_fields(object, contact);
  object.text("created_at", to_rfc3339(contact.created_at))
      .text("updated_at", to_rfc3339(contact.updated_at))
      .close();
}

api::Response shown(int status, Contact const& contact) {
  std::string body;
  append_contact(body, contact);
  return api::json_response(status, std::move(body));
}

asio::awaitable<api::Reply> add_contact(ContactRoutes routes, api::Request request) {
  auto const full =
      co_await is_storage_full(routes.context.sql, request.user, routes.context.storage_bytes_per_user);
  if (!full) co_return api::problem_from(full.error(), request.request_id);
  if (*full) co_return storage_full();
  Contact contact;
  contact.id = "con_" + mint_uuid();
  set_fields(contact, request.json().as_object());
  contact.created_at = contact.updated_at = routes.context.clock.now_ms();
  auto const added = co_await routes.repository.add(request.user, contact);
  if (!added) co_return api::problem_from(added.error(), request.request_id);
  co_return shown(201, contact);
}

asio::awaitable<api::Reply> show_contact(ContactRoutes routes, api::Request request) {
  auto const found = co_await routes.repository.find(request.user, request.param("contact_id"));
  if (!found) co_return api::problem_from(found.error(), request.request_id);
  if (!*found) co_return no_such_contact();
  co_return shown(200, **found);
}

asio::awaitable<api::Reply> change_contact(ContactRoutes routes, api::Request request) {
  auto const full =
      co_await is_storage_full(routes.context.sql, request.user, routes.context.storage_bytes_per_user);
  if (!full) co_return api::problem_from(full.error(), request.request_id);
  if (*full) co_return storage_full();
  for (int tries = 1;; ++tries) {
    auto found = co_await routes.repository.find(request.user, request.param("contact_id"));
    if (!found) co_return api::problem_from(found.error(), request.request_id);
    if (!*found) co_return no_such_contact();
    auto& contact = **found;
    set_fields(contact, request.json().as_object());
    contact.updated_at = routes.context.clock.now_ms();
    auto const replaced = co_await routes.repository.replace(request.user, contact);
    if (replaced) co_return shown(200, contact);
    bool const again = replaced.error().code == Errc::conflict && tries < kMostTries;
    if (!again) co_return api::problem_from(replaced.error(), request.request_id);
  }
}

asio::awaitable<api::Reply> delete_contact(ContactRoutes routes, api::Request request) {
  auto const removed = co_await routes.repository.remove(request.user, request.param("contact_id"));
  if (!removed) co_return api::problem_from(removed.error(), request.request_id);
  if (!*removed) co_return no_such_contact();
  co_return api::empty_response(204);
}

asio::awaitable<api::Reply> search_contacts(ContactRoutes routes, api::Request request, std::string query,
                                            std::size_t limit) {
  if (request.query("cursor")) {
    co_return api::problem(
        400, "INVALID_REQUEST",
        "'cursor' cannot be used with 'q': a search has no pages. Ask for something narrower.");
  }
  auto words = query_words(query);
  if (words.size() > kMostQueryWords) {
    co_return api::problem(400, "INVALID_REQUEST",
                           "'q' must have at most " + std::to_string(kMostQueryWords) + " words");
  }
  auto const found = co_await routes.repository.search(request.user, std::move(words), limit);
  if (!found) co_return api::problem_from(found.error(), request.request_id);
  std::string body;
  JsonObject object{body};
  append_json_array(object.key("items"), found->contacts, append_contact);
  object.number("count", static_cast<std::int64_t>(found->contacts.size())).boolean("more", found->more);
  object.null("next_cursor").close();
  co_return api::json_response(200, std::move(body));
}

asio::awaitable<api::Reply> list_contacts(ContactRoutes routes, api::Request request) {
  auto const limit = api::number_query(request, "limit", 1, static_cast<std::int64_t>(kLargestPage));
  if (auto const* bad = std::get_if<api::Response>(&limit)) co_return *bad;
  auto const size = static_cast<std::size_t>(std::get<0>(limit).value_or(kDefaultPage));
  auto query = request.query("q");
  if (query) {
    auto reply = co_await search_contacts(routes, std::move(request), std::move(*query), size);
    co_return reply;
  }
  auto const page = co_await routes.repository.list(request.user, request.query("cursor").value_or(""), size);
  if (!page && page.error().code == Errc::invalid) {
    co_return api::problem(400, "INVALID_REQUEST", "'cursor' must be the next_cursor of an earlier page");
  }
  if (!page) co_return api::problem_from(page.error(), request.request_id);
  std::string body;
  JsonObject object{body};
  append_json_array(object.key("items"), page->contacts, append_contact);
  object.number("count", static_cast<std::int64_t>(page->contacts.size()))
      .boolean("more", !page->next.empty());
  if (page->next.empty()) {
    object.null("next_cursor");
  } else {
    object.text("next_cursor", page->next);
  }
  object.close();
  co_return api::json_response(200, std::move(body));
}

}  // namespace

void add_contact_routes(api::Router& router, Context const& context) {
  ContactRoutes const routes{context, Repository{context.sql}};
  auto const with =
      [routes](asio::awaitable<api::Reply> (*handle)(ContactRoutes, api::Request)) -> api::Handler {
    return [routes, handle](api::Request request) { return handle(routes, std::move(request)); };
  };
  std::string const all = "/api/v1/contacts";
  std::string const one = all + "/{contact_id}";
  router.add(api::Method::get, all, api::Access::user, with(&list_contacts), {.answer_bytes = kListAnswer});
  router.add(api::Method::post, all, api::Access::user, with(&add_contact), {.values = &check_fields});
  router.add(api::Method::get, one, api::Access::user, with(&show_contact));
  router.add(api::Method::patch, one, api::Access::user, with(&change_contact), {.values = &check_fields});
  router.add(api::Method::del, one, api::Access::user, with(&delete_contact));
}

}  // namespace runnel::modules::contacts

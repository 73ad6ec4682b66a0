#include "runnel/modules/contacts/methods.h"

#include <boost/json/value.hpp>

#include <optional>
#include <string>
#include <utility>

#include "kReadInput.inc"
#include "runnel/modules/contacts/fields.h"
#include "runnel/modules/contacts/search_terms.h"

namespace runnel::modules::contacts {

using store::Async;

namespace {

constexpr std::size_t kDefaultItems = 20;

std::string text_in_input(MethodCall const& call, std::string_view field) {
  auto const* const value = call.input.if_contains(field);
  return value == nullptr ? std::string{} : std::string{value->as_string()};
}

std::size_t limit_in(MethodCall const& call) {
  auto const* const value = call.input.if_contains("limit");
  return value == nullptr ? kDefaultItems : value->to_number<std::size_t>();
}

void append_item(std::string& out, Contact const& contact) {
  JsonObject object{out};
  append_fields(object, contact);
  object.close();
}

MethodAnswer shown_contacts(std::vector<Contact> const& contacts, bool more,
                            std::string const& next_cursor = {}) {
  std::string data;
  JsonObject object{data};
  append_json_array(object.key("items"), contacts, append_item);
  object.number("count", static_cast<std::int64_t>(contacts.size())).boolean("more", more);
  if (!next_cursor.empty()) object.text("next_cursor", next_cursor);
  object.close();
  return MethodResult{std::move(data)};
}

Async<MethodAnswer> run_get(Repository repository, MethodCall call) {
  auto const found = co_await repository.find(call.user, text_in_input(call, "contact_id"));
  if (!found) co_return found.error();
  if (!*found)
    co_return MethodAnswer{MethodFailure{kNotFound, "the user has no contact with this contact_id"}};
  co_return shown_contacts({**found}, false);
}

Async<MethodAnswer> run_list(Repository repository, MethodCall call) {
  auto const page = co_await repository.list(call.user, text_in_input(call, "cursor"), limit_in(call));
  if (!page && page.error().code == Errc::invalid) {
    co_return MethodAnswer{MethodFailure{kInvalidInput, "cursor must be the next_cursor of an earlier list"}};
  }
  if (!page) co_return page.error();
  co_return shown_contacts(page->contacts, !page->next.empty(), page->next);
}

Async<MethodAnswer> run_search(Repository repository, MethodCall call) {
  auto words = query_words(text_in_input(call, "query"));
  if (words.empty()) {
    co_return MethodAnswer{MethodFailure{kInvalidInput, "query must have a letter or a digit"}};
  }
  if (words.size() > kMostQueryWords) {
    co_return MethodAnswer{MethodFailure{
        kInvalidInput, "query must have at most " + std::to_string(kMostQueryWords) + " words"}};
  }
  auto const found = co_await repository.search(call.user, std::move(words), limit_in(call));
  if (!found) co_return found.error();
  co_return shown_contacts(found->contacts, found->more);
}

Async<MethodAnswer> run_read(Repository repository, MethodCall call) {
  auto const mode = text_in_input(call, "mode");
  if (mode == "get") return run_get(repository, std::move(call));
  if (mode == "search") return run_search(repository, std::move(call));
  return run_list(repository, std::move(call));
}

}  // namespace

std::vector<Method> contact_methods(Repository repository) {
  return {{"contacts.read", kReadInput,
           [repository](MethodCall call) { return run_read(repository, std::move(call)); }}};
}

}  // namespace runnel::modules::contacts

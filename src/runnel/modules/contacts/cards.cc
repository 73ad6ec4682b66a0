#include "runnel/modules/contacts/cards.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>

#include "runnel/core/json/members.h"

namespace runnel::modules::contacts {

namespace json = boost::json;

namespace {

// What a card has of a contact, besides the name.
constexpr std::array<char const*, 3> kShownFields{"organization", "email", "phone"};

bool has_more(json::object const& object) {
  auto const* const more = object.if_contains("more");
  return more != nullptr && more->is_bool() && more->get_bool();
}

std::optional<json::object> contact_hints(CardCall const& call) {
  json::array contacts;
  for (auto const& item : list_at(call.data, "items")) {
    if (contacts.size() == kMostCardItems) break;
    json::object contact{{"name", text_at(as_object(item), "name")}};
    for (auto const* const field : kShownFields) {
      auto const text = text_at(as_object(item), field);
      if (!text.empty()) contact[field] = text;
    }
    contacts.push_back(std::move(contact));
  }
  return json::object{{"contacts", std::move(contacts)},
                      {"count", count_at(call.data, "count")},
                      {"more", has_more(call.data)}};
}

std::string title_of(std::size_t count, bool chinese) {
  if (count == 0) return chinese ? "没有找到联系人" : "No contacts found";
  if (chinese) return fmt::format("{} 位联系人", count);
  return count == 1 ? "1 contact" : fmt::format("{} contacts", count);
}

Card contact_card(json::object const& hints, CardReader const& reader) {
  bool const chinese = reader.reads_chinese();
  auto const count = count_at(hints, "count");
  Card card;
  card.title = title_of(count, chinese);
  for (auto const& contact : list_at(hints, "contacts")) {
    auto const& fields = as_object(contact);
    auto& item = card.items.emplace_back();
    item.title = text_at(fields, "name");
    for (auto const* const field : kShownFields) {
      if (auto text = text_at(fields, field); !text.empty()) item.lines.push_back(std::move(text));
    }
  }
  if (count > card.items.size() || has_more(hints))
    card.note = chinese ? "还有其他联系人未显示" : "There are more contacts, which are not shown here";
  return card;
}

}  // namespace

std::vector<CardForm> card_forms() {
  return {{"contacts.read", &contact_hints, &contact_card}};
}

}  // namespace runnel::modules::contacts

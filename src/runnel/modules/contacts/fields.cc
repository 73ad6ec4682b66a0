#include "runnel/modules/contacts/fields.h"

#include <boost/json/value.hpp>

#include <array>
#include <string>
#include <utility>

#include "runnel/core/json/parse.h"
#include "runnel/core/text/text.h"

namespace runnel::modules::contacts {

namespace json = boost::json;

namespace {

struct Field {
  std::string_view name;
  std::string Contact::*text;
};

constexpr std::array kFields{Field{"name", &Contact::name},   Field{"email", &Contact::email},
                             Field{"phone", &Contact::phone}, Field{"organization", &Contact::organization},
                             Field{"note", &Contact::note},   Field{"user_id", &Contact::user_id}};

bool looks_like_email(std::string_view text) {
  auto const at = text.find('@');
  if (at == std::string_view::npos || at == 0 || at + 1 == text.size()) return false;
  if (text.find('@', at + 1) != std::string_view::npos) return false;
  for (char const c : text) {
    if (static_cast<unsigned char>(c) <= ' ' || c == 0x7F) return false;
  }
  return true;
}

json::string const* text_in(json::object const& object, std::string_view name) {
  auto const* const value = object.if_contains(name);
  return value == nullptr ? nullptr : value->if_string();
}

}  // namespace

void set_fields(Contact& contact, json::object const& sent) {
  for (auto const& field : kFields) {
    if (auto const* const text = text_in(sent, field.name)) contact.*field.text = std::string{*text};
  }
}

std::vector<base::Violation> check_fields(std::string_view body) {
  std::vector<base::Violation> violations;
  auto const parsed = parse_json(body);
  auto const* const document = std::get_if<json::value>(&parsed);
  if (document == nullptr || !document->is_object()) return violations;
  auto const& sent = document->get_object();
  auto const* const name = text_in(sent, "name");
  if (name != nullptr && is_blank(*name)) violations.push_back({"/name", "must not be blank"});
  auto const* const email = text_in(sent, "email");
  if (email != nullptr && !email->empty() && !looks_like_email(*email)) {
    violations.push_back({"/email", "must be an address such as wei@example.com, or an empty text for none"});
  }
  return violations;
}

void append_fields(JsonObject& object, Contact const& contact) {
  object.text("contact_id", contact.id);
  for (auto const& field : kFields) {
    auto const& text = contact.*field.text;
    if (!text.empty()) object.text(field.name, text);
  }
}

}  // namespace runnel::modules::contacts

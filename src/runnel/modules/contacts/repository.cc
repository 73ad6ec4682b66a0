#include "runnel/modules/contacts/repository.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "runnel/core/text/base64url.h"
#include "runnel/core/text/text.h"
#include "runnel/modules/contacts/search_terms.h"

namespace runnel::modules::contacts {

using store::Async;
using store::SqlStatement;

namespace {

constexpr std::size_t kLongestSortKey = 64;  // In characters.

constexpr char kAdd[] = R"sql(
INSERT INTO contacts(id, owner_id, name, email, phone, organization, note, user_id, sort_key, created_at, updated_at,
                     revision)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12))sql";

constexpr char kReplace[] = R"sql(
UPDATE contacts SET name = $3, email = $4, phone = $5, organization = $6, note = $7, user_id = $8, sort_key = $9,
                    updated_at = $10, revision = revision + 1
WHERE id = $1 AND owner_id = $2 AND revision = $11)sql";

constexpr char kRemove[] = "DELETE FROM contacts WHERE id = $1 AND owner_id = $2 RETURNING id";

constexpr char kRemoveTerms[] = "DELETE FROM contact_terms WHERE contact_id = $1";

constexpr char kAddTerm[] = "INSERT INTO contact_terms(owner_id, term, contact_id) VALUES ($1, $2, $3)";

constexpr char kFind[] = R"sql(
SELECT id, name, email, phone, organization, note, user_id, created_at, updated_at, revision FROM contacts
WHERE id = $1 AND owner_id = $2)sql";

constexpr char kList[] = R"sql(
SELECT id, name, email, phone, organization, note, user_id, created_at, updated_at, revision, sort_key FROM contacts
WHERE owner_id = $1 AND (sort_key, id) > ($2, $3) ORDER BY sort_key, id LIMIT $4)sql";

// The first word leads: its terms are read in order, and only those are kept whose contact also has a term
// for each other word. $2 is the number of contacts, and $3 how many terms they can have together: so the
// limit inside is never reached before all of them are found.
constexpr char kSearchHead[] = R"sql(
SELECT c.id, c.name, c.email, c.phone, c.organization, c.note, c.user_id, c.created_at, c.updated_at, c.revision
FROM (SELECT m.contact_id, min(m.term) AS term
      FROM (SELECT t.contact_id, t.term FROM contact_terms t
            WHERE t.owner_id = $1 AND t.term >= $4 AND t.term < $5)sql";
constexpr char kSearchTail[] = R"sql(
            ORDER BY t.term, t.contact_id LIMIT $3) m
      GROUP BY m.contact_id ORDER BY min(m.term), m.contact_id LIMIT $2) f
JOIN contacts c ON c.id = f.contact_id ORDER BY f.term, c.sort_key, c.id)sql";

// Whether a contact has a term for a word can be found out in two ways: by looking at the terms of each
// contact, or by making a list of the word's contacts first.
constexpr char kLookedUp[] = R"sql(
            AND EXISTS (SELECT 1 FROM contact_terms o
                        WHERE o.contact_id = t.contact_id AND o.term >= ${} AND o.term < ${}))sql";
constexpr char kListed[] = R"sql(
            AND t.contact_id IN (SELECT o.contact_id FROM contact_terms o
                                 WHERE o.owner_id = $1 AND o.term >= ${} AND o.term < ${}))sql";

// For each word but the first, those that are `listed` come before the others.
std::string make_search(std::size_t words, std::size_t listed) {
  std::string text = kSearchHead;
  for (std::size_t i = 1; i < words; ++i)
    text += fmt::format(fmt::runtime(i <= listed ? kListed : kLookedUp), 4 + 2 * i, 5 + 2 * i);
  return text + kSearchTail;
}

// How many terms begin with a word, counted up to $4.
constexpr char kCountTerms[] = R"sql(
SELECT count(*) FROM (SELECT 1 FROM contact_terms WHERE owner_id = $1 AND term >= $2 AND term < $3 LIMIT $4) n)sql";
constexpr std::int64_t kMostCounted = 4000;

// A term is looked up in the time in which so many are put into a list.
constexpr std::int64_t kListedPerLookUp = 4;

std::string_view search_text(std::size_t words, std::size_t listed) {
  using Texts = std::array<std::array<std::string, kMostQueryWords>, kMostQueryWords>;
  static auto const kTexts = [] {
    Texts texts;
    for (std::size_t i = 0; i < kMostQueryWords; ++i) {
      for (std::size_t j = 0; j <= i; ++j)
        texts.at(i).at(j) = make_search(i + 1, j);
    }
    return texts;
  }();
  return kTexts.at(words - 1).at(listed);
}

std::string sort_key_of(Contact const& contact) {
  return std::string{first_code_points(fold(contact.name), kLongestSortKey)};
}

// The name's terms come first, so that they are never those that are left out.
std::vector<std::string> terms_of_contact(Contact const& contact) {
  std::vector<std::string> terms;
  std::set<std::string> seen;
  auto const take = [&](std::vector<std::string> const& more) {
    for (auto const& term : more) {
      if (terms.size() < kMostTerms && seen.insert(term).second) terms.push_back(term);
    }
  };
  take(terms_of(contact.name));
  take(phone_terms(contact.phone));
  take(terms_of(contact.email));
  take(terms_of(contact.organization));
  take(terms_of(contact.user_id));
  return terms;
}

void add_terms(std::vector<SqlStatement>& to, UserId const& owner, Contact const& contact) {
  for (auto& term : terms_of_contact(contact))
    to.push_back(store::statement(kAddTerm, owner.text, std::move(term), contact.id));
}

std::vector<SqlStatement> add_statements(UserId const& owner, Contact const& contact) {
  std::vector<SqlStatement> out;
  out.push_back(
      store::statement(kAdd, contact.id, owner.text, contact.name, store::null_if_empty(contact.email),
                       store::null_if_empty(contact.phone), store::null_if_empty(contact.organization),
                       store::null_if_empty(contact.note), store::null_if_empty(contact.user_id),
                       sort_key_of(contact), contact.created_at, contact.updated_at, contact.revision)
          .touching(1));
  add_terms(out, owner, contact);
  return out;
}

std::vector<SqlStatement> replace_statements(UserId const& owner, Contact const& contact) {
  std::vector<SqlStatement> out;
  out.push_back(store::statement(kReplace, contact.id, owner.text, contact.name,
                                 store::null_if_empty(contact.email), store::null_if_empty(contact.phone),
                                 store::null_if_empty(contact.organization),
                                 store::null_if_empty(contact.note), store::null_if_empty(contact.user_id),
                                 sort_key_of(contact), contact.updated_at, contact.revision)
                    .touching(1));
  out.push_back(store::statement(kRemoveTerms, contact.id));
  add_terms(out, owner, contact);
  return out;
}

Contact to_contact(store::SqlResult const& found, std::size_t row) {
  Contact contact;
  contact.id = found.text(row, 0);
  contact.name = found.text(row, 1);
  contact.email = found.text(row, 2);
  contact.phone = found.text(row, 3);
  contact.organization = found.text(row, 4);
  contact.note = found.text(row, 5);
  contact.user_id = found.text(row, 6);
  contact.created_at = found.integer(row, 7);
  contact.updated_at = found.integer(row, 8);
  contact.revision = found.integer(row, 9);
  return contact;
}

std::vector<Contact> to_contacts(store::SqlResult const& found, std::size_t most) {
  std::vector<Contact> out;
  for (std::size_t row = 0; row < found.size() && row < most; ++row)
    out.push_back(to_contact(found, row));
  return out;
}

// The place in a list after which a page begins. An id holds no line break.
struct Cursor {
  std::string sort_key;
  std::string id;
};

std::string to_text(Cursor const& cursor) {
  return base64url_encode(cursor.sort_key + "\n" + cursor.id);
}

std::optional<Cursor> read_cursor(std::string const& text) {
  if (text.empty()) return Cursor{};
  auto const decoded = base64url_decode(text);
  if (!decoded || !is_utf8(*decoded) || decoded->find('\0') != std::string::npos) return std::nullopt;
  auto const at = decoded->rfind('\n');
  if (at == std::string::npos) return std::nullopt;
  return Cursor{decoded->substr(0, at), decoded->substr(at + 1)};
}

ContactPage to_page(store::SqlResult const& found, std::size_t limit) {
  ContactPage page{to_contacts(found, limit)};
  if (found.size() > limit && limit > 0) {
    page.next = to_text({found.text(limit - 1, 10), found.text(limit - 1, 0)});
  }
  return page;
}

// The end of the terms that begin with the word.
std::string after_all(std::string const& word) {
  return word + "\xF4\x8F\xBF\xBF";  // U+10FFFF.
}

SqlStatement search_statement(UserId const& owner, std::vector<QueryWord> const& words, std::size_t limit) {
  auto const is_listed = [&](QueryWord const& word) {
    return word.terms < kMostCounted && word.terms < kListedPerLookUp * words.front().terms;
  };
  auto const listed = std::count_if(words.begin() + 1, words.end(), is_listed);
  auto out = store::statement(search_text(words.size(), static_cast<std::size_t>(listed)), owner.text,
                              static_cast<std::int64_t>(limit + 1),
                              static_cast<std::int64_t>((limit + 1) * kMostTerms));
  for (auto const& word : words) {
    out.parameters.emplace_back(word.text);
    out.parameters.emplace_back(after_all(word.text));
  }
  return out;
}

SqlStatement count_statement(UserId const& owner, std::string const& word) {
  return store::statement(kCountTerms, owner.text, word, after_all(word), kMostCounted);
}

}  // namespace

Async<void> Repository::add(UserId owner, Contact contact) {
  auto const written = co_await sql_->write(add_statements(owner, contact));
  if (!written) co_return written.error();
  co_return Result<void>{};
}

Async<void> Repository::replace(UserId owner, Contact contact) {
  auto const written = co_await sql_->write(replace_statements(owner, contact));
  if (!written) co_return written.error();
  co_return Result<void>{};
}

Async<bool> Repository::remove(UserId owner, std::string id) {
  auto const removed = co_await sql_->write_one(store::statement(kRemove, std::move(id), owner.text));
  if (!removed) co_return removed.error();
  co_return !removed->empty();
}

Async<std::optional<Contact>> Repository::find(UserId owner, std::string id) {
  auto const found = co_await sql_->read(store::statement(kFind, std::move(id), owner.text));
  if (!found) co_return found.error();
  if (found->empty()) co_return std::nullopt;
  co_return to_contact(*found, 0);
}

Async<ContactPage> Repository::list(UserId owner, std::string cursor, std::size_t limit) {
  auto const after = read_cursor(cursor);
  if (!after) co_return Error{Errc::invalid, "not a valid cursor: " + cursor};
  auto const found = co_await sql_->read(
      store::statement(kList, owner.text, after->sort_key, after->id, static_cast<std::int64_t>(limit + 1)));
  if (!found) co_return found.error();
  co_return to_page(*found, limit);
}

Async<std::vector<QueryWord>> Repository::rarest_first(UserId owner, std::vector<std::string> words) {
  std::vector<QueryWord> out;
  for (auto& word : words) {
    std::int64_t terms = 0;
    if (words.size() > 1) {
      auto const counted = co_await sql_->read(count_statement(owner, word));
      if (!counted) co_return counted.error();
      terms = counted->integer(0, 0);
    }
    out.push_back({std::move(word), terms});
  }
  std::stable_sort(out.begin(), out.end(),
                   [](QueryWord const& a, QueryWord const& b) { return a.terms < b.terms; });
  co_return out;
}

Async<FoundContacts> Repository::search(UserId owner, std::vector<std::string> words, std::size_t limit) {
  if (words.empty()) co_return FoundContacts{};
  auto const counted = co_await rarest_first(owner, std::move(words));
  if (!counted) co_return counted.error();
  auto const found = co_await sql_->read(search_statement(owner, *counted, limit));
  if (!found) co_return found.error();
  co_return FoundContacts{to_contacts(*found, limit), found->size() > limit};
}

}  // namespace runnel::modules::contacts

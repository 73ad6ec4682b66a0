#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runnel/core/ids.h"
#include "runnel/store/sql.h"

namespace runnel::modules::contacts {

// A person that a user knows. Only the name is required; the other texts are empty if there is none.
struct Contact {
  std::string id;
  std::string name;
  std::string email;
  std::string phone;
  std::string organization;
  std::string note;
  std::string user_id;  // The user of this server who this person is.
  std::int64_t created_at = 0;
  std::int64_t updated_at = 0;
  std::int64_t revision = 1;  // Grows with each change.
};

// At most this many contacts are shown at once.
inline constexpr std::size_t kLargestPage = 100;

// Contacts by name and then by id, whatever the case and width of their names.
struct ContactPage {
  std::vector<Contact> contacts;
  std::string next{};  // The cursor of the next page. Empty if there is none.
};

// The contacts that a search has found, the best first.
struct FoundContacts {
  std::vector<Contact> contacts;
  bool more = false;  // Whether there are others.
};

// A word of a query, and how many terms begin with it, counted up to a limit. Not counted if it is the only
// word.
struct QueryWord {
  std::string text;
  std::int64_t terms = 0;
};

class Repository {
 public:
  explicit Repository(store::Sql& sql) : sql_{&sql} {}

  // Adds a contact, whose id must be new.
  store::Async<void> add(UserId owner, Contact contact);

  // Replaces the owner's contact with this id. Fails with `conflict` if the contact is gone or does not have
  // the revision `contact.revision` any more; the stored one has the next revision.
  store::Async<void> replace(UserId owner, Contact contact);

  // Returns whether the owner had such a contact.
  store::Async<bool> remove(UserId owner, std::string id);

  // Empty if the owner has no contact with this id.
  store::Async<std::optional<Contact>> find(UserId owner, std::string id);

  // An empty cursor means the first page. Fails with `invalid` if it is not the `next` of a page. `limit` is
  // at most kLargestPage.
  store::Async<ContactPage> list(UserId owner, std::string cursor, std::size_t limit);

  // The contacts that have a term for each word, which are those of query_words(); at most kMostQueryWords.
  // Without a word nothing is found. `limit` is at most kLargestPage.
  store::Async<FoundContacts> search(UserId owner, std::vector<std::string> words, std::size_t limit);

 private:
  // The words with their numbers of terms, the one with the fewest first: the search reads these all.
  store::Async<std::vector<QueryWord>> rarest_first(UserId owner, std::vector<std::string> words);

  store::Sql* sql_;
};

}  // namespace runnel::modules::contacts

#include "runnel/modules/contacts/repository.h"

#include <algorithm>
#include <optional>

#include "runnel/modules/contacts/module.h"
#include "runnel/modules/contacts/search_terms.h"
#include "runnel/store/testing/store_contract.h"

namespace runnel::modules::contacts {
namespace {

using namespace store;

Contact contact_row(std::string id, std::string name) {
  Contact contact;
  contact.id = std::move(id);
  contact.name = std::move(name);
  contact.created_at = kNow;
  contact.updated_at = kNow;
  return contact;
}

using Ids = std::vector<std::string>;

class ContactRows : public StoreContract {
 protected:
  [[nodiscard]] std::vector<Migration> module_migrations() const override { return define().migrations; }

  Repository rows() { return Repository{store()}; }
  Result<void> try_to_add(UserId const& owner, Contact const& contact) {
    return run_async(rows().add(owner, contact));
  }
  void add(UserId const& owner, Contact const& contact) { ASSERT_TRUE(try_to_add(owner, contact)); }
  void add_named(std::string const& id, std::string const& name) { add(kAnn, contact_row(id, name)); }
  std::optional<Contact> find(UserId const& owner, std::string id) {
    return run_async(rows().find(owner, std::move(id))).value();
  }
  Ids search(std::string const& query, std::size_t limit = 100, UserId const& owner = kAnn) {
    return ids_of(run_async(rows().search(owner, query_words(query), limit)).value().contacts);
  }
  static Ids ids_of(std::vector<Contact> const& contacts) {
    Ids ids;
    for (auto const& contact : contacts)
      ids.push_back(contact.id);
    return ids;
  }
  std::string stored(UserId const& owner = kAnn) {
    return cell("SELECT coalesce((SELECT bytes FROM storage_totals WHERE owner_id = '" + owner.text +
                "'), -1)");
  }
};

TEST_P(ContactRows, TOOL_12_ContactComesBackAsItWasAdded) {
  auto contact = contact_row("c1", "王伟 \"Wei\"");
  contact.email = "wei@example.com";
  contact.phone = "+86 138 0013 8000";
  contact.organization = "Café\nGmbH";
  contact.note = "likes \\ and 茶";
  contact.user_id = "wei";
  contact.updated_at = kNow + 1;
  add(kAnn, contact);
  add_named("c2", "Bare");

  auto const found = find(kAnn, "c1").value();
  EXPECT_EQ(found.name, contact.name);
  EXPECT_EQ(found.email, contact.email);
  EXPECT_EQ(found.phone, contact.phone);
  EXPECT_EQ(found.organization, contact.organization);
  EXPECT_EQ(found.note, contact.note);
  EXPECT_EQ(found.user_id, contact.user_id);
  EXPECT_EQ(found.created_at, kNow);
  EXPECT_EQ(found.updated_at, kNow + 1);
  EXPECT_EQ(found.revision, 1);
  EXPECT_EQ(find(kAnn, "c2").value().email, "");
}

TEST_P(ContactRows, HTTP_3_AnothersContactIsNeverReadOrChanged) {
  add(kBob, contact_row("c1", "Wang Wei"));
  auto changed = contact_row("c1", "Mallory");

  EXPECT_FALSE(find(kAnn, "c1").has_value());
  EXPECT_EQ(search("wang"), Ids{});
  EXPECT_TRUE(run_async(rows().list(kAnn, "", 10)).value().contacts.empty());
  EXPECT_EQ(refusal(run_async(rows().replace(kAnn, changed))), Errc::conflict);
  EXPECT_FALSE(run_async(rows().remove(kAnn, "c1")).value());

  EXPECT_EQ(find(kBob, "c1").value().name, "Wang Wei");
  EXPECT_EQ(search("wang", 10, kBob), Ids{"c1"});
}

TEST_P(ContactRows, TOOL_12_ListIsByNameWhateverItsCaseAndWidth) {
  add_named("c1", "bob");
  add_named("c2", "Ａda");
  add_named("c3", "ADA");
  add_named("c4", "王伟");
  add_named("c5", "Zoë");

  EXPECT_EQ(ids_of(run_async(rows().list(kAnn, "", 10)).value().contacts),
            (Ids{"c2", "c3", "c1", "c5", "c4"}));
}

TEST_P(ContactRows, TOOL_12_PagesHaveEveryContactOnce) {
  for (int i = 0; i < 7; ++i)
    add_named("c" + std::to_string(i), i < 4 ? "Same\nname" : "Other");
  Ids all;
  std::string cursor;
  int pages = 0;
  do {
    auto const page = run_async(rows().list(kAnn, cursor, 2)).value();
    auto const ids = ids_of(page.contacts);
    all.insert(all.end(), ids.begin(), ids.end());
    cursor = page.next;
    ++pages;
  } while (!cursor.empty());

  EXPECT_EQ(all, (Ids{"c4", "c5", "c6", "c0", "c1", "c2", "c3"}));
  EXPECT_EQ(pages, 4);
}

TEST_P(ContactRows, TOOL_12_WhatIsNoCursorIsRefused) {
  for (auto const* const cursor : {"x", "????", "YQ", "_woB", "AApiCg"})
    EXPECT_EQ(refusal(run_async(rows().list(kAnn, cursor, 2))), Errc::invalid) << cursor;
}

TEST_P(ContactRows, TOOL_12_SearchFindsTheBeginningsOfWords) {
  add_named("wei", "王伟 Wang Wei");
  add_named("weiling", "Wang Weiling");
  add_named("li", "Li Na");
  auto phone = contact_row("phone", "Max");
  phone.phone = "+49 (30) 901-820";
  phone.email = "max.wang@example.org";
  phone.organization = "Weinhaus";
  phone.user_id = "max_7";
  phone.note = "secretword";
  add(kAnn, phone);

  EXPECT_EQ(search("ＷＡＮＧ"), (Ids{"phone", "weiling", "wei"})) << "by name, those of the same term";
  EXPECT_EQ(search("wei"), (Ids{"wei", "weiling", "phone"})) << "the shorter word first";
  EXPECT_EQ(search("ang"), Ids{});
  EXPECT_EQ(search("伟"), Ids{"wei"});
  EXPECT_EQ(search("王伟"), Ids{"wei"});
  EXPECT_EQ(search("wang weil"), Ids{"weiling"});
  EXPECT_EQ(search("na li"), Ids{"li"});
  EXPECT_EQ(search("li wang"), Ids{});
  EXPECT_EQ(search("30901820"), Ids{"phone"});
  EXPECT_EQ(search("1820"), Ids{"phone"});
  EXPECT_EQ(search("max.wang@example.org"), Ids{"phone"});
  EXPECT_EQ(search("max_7"), Ids{"phone"});
  EXPECT_EQ(search("secretword"), Ids{});
  EXPECT_EQ(search("?"), Ids{});
  EXPECT_EQ(search("%"), Ids{});
  EXPECT_EQ(search("a b c d e f g h"), Ids{});
}

TEST_P(ContactRows, TOOL_12_SearchSaysWhetherThereAreOthers) {
  for (int i = 0; i < 5; ++i)
    add_named("c" + std::to_string(i), "Wang Wei Wu W");

  auto const some = run_async(rows().search(kAnn, {"w"}, 4)).value();
  auto const all = run_async(rows().search(kAnn, {"w"}, 5)).value();
  EXPECT_EQ(ids_of(some.contacts), (Ids{"c0", "c1", "c2", "c3"}));
  EXPECT_TRUE(some.more);
  EXPECT_EQ(all.contacts.size(), 5U);
  EXPECT_FALSE(all.more);
}

TEST_P(ContactRows, TOOL_12_ContactsWithManyTermsHideNoOthers) {
  std::string const letters = "abcdefghijklmnopqrstuvwxyz0123456789";
  auto contact = contact_row("", "");
  for (char const letter : letters) {
    contact.name += std::string{"w"} + letter + " ";
    contact.organization += std::string{"wz"} + letter + " ";
  }
  for (int i = 0; i < 101; ++i) {
    contact.id = "c" + std::to_string(1000 + i);
    add(kAnn, contact);
  }
  ASSERT_EQ(cell("SELECT count(*) FROM contact_terms WHERE contact_id = 'c1000'"),
            std::to_string(kMostTerms));

  EXPECT_EQ(run_async(rows().search(kAnn, {"w"}, 100)).value().contacts.size(), 100U);
  EXPECT_TRUE(run_async(rows().search(kAnn, {"w"}, 100)).value().more);
}

TEST_P(ContactRows, TOOL_12_ReplacedContactIsFoundByItsNewNameOnly) {
  add_named("c1", "Wang Wei");
  auto contact = find(kAnn, "c1").value();
  contact.name = "Li Wei";
  contact.updated_at = kNow + 5;

  ASSERT_TRUE(run_async(rows().replace(kAnn, contact)));

  EXPECT_EQ(search("wang"), Ids{});
  EXPECT_EQ(search("li"), Ids{"c1"});
  auto const now = find(kAnn, "c1").value();
  EXPECT_EQ(now.revision, 2);
  EXPECT_EQ(now.created_at, kNow);
  EXPECT_EQ(now.updated_at, kNow + 5);
}

TEST_P(ContactRows, TOOL_12_OfTwoChangesAtOnceOneIsRefused) {
  add_named("c1", "Wang Wei");
  auto contact = find(kAnn, "c1").value();
  ASSERT_TRUE(run_async(rows().replace(kAnn, contact)));
  contact.name = "Late";

  EXPECT_EQ(refusal(run_async(rows().replace(kAnn, contact))), Errc::conflict);
  EXPECT_EQ(search("late"), Ids{}) << "nothing of it is written";
  EXPECT_EQ(search("wang"), Ids{"c1"});
}

TEST_P(ContactRows, TOOL_12_DeletedContactLeavesNothing) {
  add_named("c1", "Wang Wei");

  EXPECT_TRUE(run_async(rows().remove(kAnn, "c1")).value());
  EXPECT_FALSE(run_async(rows().remove(kAnn, "c1")).value());

  EXPECT_EQ(cell("SELECT count(*) FROM contacts"), "0");
  EXPECT_EQ(cell("SELECT count(*) FROM contact_terms"), "0");
  EXPECT_EQ(stored(), "0");
}

TEST_P(ContactRows, HTTP_9_ContactsCountInTheirOwnersStorage) {
  add_named("c1", "王伟");  // Six bytes.
  EXPECT_EQ(stored(), "412");

  auto contact = find(kAnn, "c1").value();
  contact.note = "four";
  ASSERT_TRUE(run_async(rows().replace(kAnn, contact)));
  EXPECT_EQ(stored(), "420");
  EXPECT_EQ(stored(kBob), "-1");
}

TEST_P(ContactRows, DB_2_OnlyPossibleContactsAreHeld) {
  std::vector<Contact> bad(8, contact_row("bad", "Bad"));
  bad[0].id = "";
  bad[1].name = "";
  bad[2].name = std::string(201, 'x');
  bad[3].name = std::string{"a\0b", 3};
  bad[4].email = std::string(255, 'x');
  bad[5].phone = std::string(65, '1');
  bad[6].note = std::string(2001, 'x');
  bad[7].user_id = std::string(257, 'x');

  for (std::size_t i = 0; i < bad.size(); ++i)
    EXPECT_EQ(refusal(try_to_add(kAnn, bad[i])), Errc::invalid) << i;
  EXPECT_EQ(cell("SELECT count(*) FROM contacts"), "0");
  EXPECT_EQ(cell("SELECT count(*) FROM contact_terms"), "0");
}

INSTANTIATE_TEST_SUITE_P(Engines, ContactRows, testing::Values(sqlite_engine(), postgres_engine()),
                         engine_name);

}  // namespace
}  // namespace runnel::modules::contacts

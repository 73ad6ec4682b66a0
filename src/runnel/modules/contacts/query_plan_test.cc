#include "runnel/store/testing/query_plan.h"

#include <gtest/gtest.h>

#include "runnel/modules/contacts/module.h"
#include "runnel/modules/contacts/repository.h"
#include "runnel/modules/contacts/search_terms.h"

namespace runnel::modules::contacts {
namespace {

using namespace store;

class ContactPlan : public StoreContract {
 protected:
  [[nodiscard]] std::vector<Migration> module_migrations() const override { return define().migrations; }

  // Contacts of ann, and many more of bob, each with two terms. Every fiftieth has the name that is searched
  // for.
  void fill() {
    sql("INSERT INTO contacts(id, owner_id, name, sort_key, revision, created_at, updated_at) "
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9999) "
        "SELECT 'c' || i, CASE WHEN i % 9 = 0 THEN 'ann' ELSE 'bob' END, 'wang ' || i, 'wang ' || i, 1, 1, 1 "
        "FROM n");
    sql("INSERT INTO contact_terms(owner_id, term, contact_id) "
        "SELECT owner_id, CASE WHEN id LIKE '%77' OR id LIKE '%33' THEN 'wang' ELSE 'xu' || id END, id "
        "FROM contacts");
    sql("INSERT INTO contact_terms(owner_id, term, contact_id) SELECT owner_id, 'no' || id, id FROM "
        "contacts");
    sql("ANALYZE");
  }
  // The plans of all statements that the call reads.
  template <class Call>
  std::string plans_of(Call call) {
    RecordingSql recorded{store()};
    Repository rows{recorded};
    run_async(call(rows)).value();
    EXPECT_FALSE(recorded.was_read.empty());
    std::string plans;
    for (auto const& statement : recorded.was_read)
      plans += query_plan(GetParam(), store(), statement);
    return plans;
  }
};

using None = std::vector<std::string>;

TEST_P(ContactPlan, TOOL_12_SearchUsesTheIndexOfTerms) {
  fill();

  for (auto const* const query : {"wang", "noc81", "wang noc7", "w n"}) {
    auto const plans = plans_of([&](Repository& rows) { return rows.search(kAnn, query_words(query), 20); });
    EXPECT_EQ(whole_tables(plans), None{}) << query << "\n" << plans;
  }
}

TEST_P(ContactPlan, TOOL_12_ListAndOneContactAreFoundByIndexes) {
  fill();

  for (auto const& plans : {plans_of([](Repository& rows) { return rows.list(kAnn, "", 20); }),
                            plans_of([](Repository& rows) { return rows.find(kAnn, "c77"); })})
    EXPECT_EQ(whole_tables(plans), None{}) << plans;
}

INSTANTIATE_TEST_SUITE_P(Engines, ContactPlan, testing::Values(sqlite_engine(), postgres_engine()),
                         engine_name);

}  // namespace
}  // namespace runnel::modules::contacts

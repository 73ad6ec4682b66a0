#include "runnel/modules/memory/repository.h"

#include "runnel/modules/memory/content.h"
#include "runnel/modules/memory/module.h"
#include "runnel/store/testing/store_contract.h"

namespace runnel::modules::memory {
namespace {

using namespace store;

class MemoryRows : public StoreContract {
 protected:
  [[nodiscard]] std::vector<Migration> module_migrations() const override { return define().migrations; }

  Repository rows() { return Repository{store()}; }
  std::optional<Memory> find(UserId const& owner = kAnn, Kind kind = Kind::user) {
    return run_async(rows().find(owner, kind)).value();
  }
  Result<void> put(std::string content, UserId const& owner = kAnn, Kind kind = Kind::user,
                   std::int64_t now = kNow) {
    return run_async(rows().put(owner, kind, find(owner, kind), std::move(content), now));
  }
  std::string stored(UserId const& owner = kAnn) {
    return cell("SELECT coalesce((SELECT bytes FROM storage_totals WHERE owner_id = '" + owner.text +
                "'), -1)");
  }
};

constexpr char kTea[] = R"({"likes":["喝茶 \"tea\""]})";

TEST_P(MemoryRows, TOOL_12_MemoryComesBackAsItWasNoted) {
  EXPECT_FALSE(find().has_value());
  ASSERT_TRUE(put(kTea));
  ASSERT_TRUE(put(R"({"role":"x"})", kAnn, Kind::work_profile));

  EXPECT_EQ(find().value().content, kTea);
  EXPECT_EQ(find().value().updated_at, kNow);
  auto const all = run_async(rows().all(kAnn)).value();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].kind, Kind::user);
  EXPECT_EQ(all[1].kind, Kind::work_profile);
  EXPECT_EQ(all[1].content, R"({"role":"x"})");
}

TEST_P(MemoryRows, HTTP_3_AnothersMemoryIsNeverReadOrChanged) {
  ASSERT_TRUE(put(kTea, kBob));

  EXPECT_FALSE(find(kAnn).has_value());
  EXPECT_TRUE(run_async(rows().all(kAnn)).value().empty());
  ASSERT_TRUE(run_async(rows().forget(kAnn, Kind::user)));
  ASSERT_TRUE(put(R"({"about":"ann"})", kAnn));
  EXPECT_EQ(find(kBob).value().content, kTea);
}

TEST_P(MemoryRows, TOOL_12_OfTwoChangesAtOnceOneIsRefused) {
  auto const nothing = find();
  ASSERT_TRUE(put(kTea));
  EXPECT_EQ(refusal(run_async(rows().put(kAnn, Kind::user, nothing, "{\"a\":1}", kNow))), Errc::conflict);

  auto const before = find();
  ASSERT_TRUE(put(R"({"about":"new"})"));
  EXPECT_EQ(find().value().revision, before.value().revision + 1);
  EXPECT_EQ(refusal(run_async(rows().put(kAnn, Kind::user, before, "{\"a\":1}", kNow))), Errc::conflict);
  EXPECT_EQ(refusal(run_async(rows().put(kAnn, Kind::user, before, "{}", kNow))), Errc::conflict);
  EXPECT_EQ(find().value().content, R"({"about":"new"})");
}

TEST_P(MemoryRows, TOOL_12_AForgottenMemoryHasNoRevisionTwice) {
  ASSERT_TRUE(put(kTea));
  auto const before = find();
  ASSERT_TRUE(run_async(rows().forget(kAnn, Kind::user)));
  ASSERT_TRUE(put(R"({"about":"again"})", kAnn, Kind::user, kNow + 9));

  EXPECT_EQ(refusal(run_async(rows().put(kAnn, Kind::user, before, kTea, kNow))), Errc::conflict);
}

TEST_P(MemoryRows, TOOL_12_AnEmptyMemoryLeavesNothing) {
  ASSERT_TRUE(put(kTea));
  ASSERT_TRUE(put("{}"));

  EXPECT_EQ(cell("SELECT count(*) FROM memories"), "0");
  EXPECT_EQ(stored(), "0");
}

TEST_P(MemoryRows, HTTP_9_MemoriesCountInTheirOwnersStorage) {
  ASSERT_TRUE(put(R"({"about":"茶"})"));
  EXPECT_EQ(stored(), "215");
  ASSERT_TRUE(put(R"({"about":"four"})"));
  EXPECT_EQ(stored(), "216");
  ASSERT_TRUE(put(R"({"role":"x"})", kAnn, Kind::work_profile));
  EXPECT_EQ(stored(), "428");
  ASSERT_TRUE(run_async(rows().forget(kAnn, Kind::user)));
  EXPECT_EQ(stored(), "212");
  EXPECT_EQ(stored(kBob), "-1");
}

TEST_P(MemoryRows, DB_2_OnlyPossibleMemoriesAreHeld) {
  EXPECT_EQ(refusal(put("{}")), Errc::invalid);
  EXPECT_EQ(refusal(put(std::string(kMostContentBytes + 1, 'x'))), Errc::invalid);
  EXPECT_EQ(refusal(put("{}", UserId{""})), Errc::invalid);
  EXPECT_TRUE(put(std::string(kMostContentBytes, 'x')));
}

INSTANTIATE_TEST_SUITE_P(Engines, MemoryRows, testing::Values(sqlite_engine(), postgres_engine()),
                         engine_name);

}  // namespace
}  // namespace runnel::modules::memory

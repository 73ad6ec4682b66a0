#include "runnel/modules/calendar/ics/file_rows.h"

#include "runnel/modules/calendar/testing/calendar_rows.h"
#include "runnel/store/testing/query_plan.h"

namespace runnel::modules::calendar {
namespace {

using namespace store;

using Ids = std::vector<std::string>;

Event event_at(std::string id, std::int64_t start, bool repeats = false) {
  Event event;
  event.id = std::move(id);
  event.title = "Tea";
  event.span = {start, start + kHourMs};
  event.timezone = "UTC";
  if (!repeats) return event;
  event.rrule = "FREQ=DAILY";
  event.series_end_at = kLastMs;
  return event;
}

class FileRowsContract : public CalendarRowsContract {
 protected:
  void accept(std::string const& event, UserId const& guest, UserId const& owner) {
    ASSERT_TRUE(write(add_invite(owner, event, {"inv-" + event, guest.text, ""}, kNow)));
    ASSERT_TRUE(write(answer_invite(guest, "inv-" + event, "accepted", kNow)));
  }
  bool keep(std::string const& event, std::string uid, std::int64_t sequence = 1,
            UserId const& owner = kAnn) {
    Imported imported;
    imported.uid = std::move(uid);
    imported.sequence = sequence;
    imported.modified_at = kNow;
    imported.digest = "digest";
    return write(keep_import(owner, event, imported)).has_value();
  }
  // The UIDs of a part, read two at a time.
  Ids uids(Part part, std::int64_t since = 0, UserId const& user = kAnn) {
    Ids out;
    PageEnd end;
    for (;;) {
      auto const page = run_async(rows().page(user, part, since, end, 2)).value();
      for (auto const& exported : page.events)
        out.push_back(exported.uid);
      if (page.events.size() < 2) return out;
      end = page.end;
    }
  }
  std::optional<KeptEvent> find(std::string uid, UserId const& user = kAnn) {
    return run_async(rows().find_uid(user, std::move(uid))).value();
  }
  FileRows rows() { return FileRows{store()}; }
  std::string stored(UserId const& owner = kAnn) {
    return cell("SELECT bytes FROM storage_totals WHERE owner_id = '" + owner.text + "'");
  }

  UserId const bob{"bob"};
};

TEST_P(FileRowsContract, TOOL_12_PartsAreReadPageByPage) {
  for (auto const* const id : {"e5", "e3", "e4", "e1", "e2"})
    add(event_at(id, kNow));
  add(event_at("e0", kNow + 1));
  for (auto const* const id : {"s2", "s1", "s3"})
    add(event_at(id, kNow, true));
  for (auto const* const id : {"b1", "b2", "b3"}) {
    add(event_at(id, kNow), bob);
    accept(id, kAnn, bob);
  }
  add(event_at("b4", kNow, true), bob);
  accept("b4", kAnn, bob);

  EXPECT_EQ(uids(Part::own_events), (Ids{"e1", "e2", "e3", "e4", "e5", "e0"}));
  EXPECT_EQ(uids(Part::own_series), (Ids{"s1", "s2", "s3"}));
  EXPECT_EQ(uids(Part::accepted_events), (Ids{"inv-b1", "inv-b2", "inv-b3"}));
  EXPECT_EQ(uids(Part::accepted_series), Ids{"inv-b4"});
  EXPECT_EQ(uids(Part::own_events, kNow + kHourMs), Ids{"e0"});
  EXPECT_EQ(uids(Part::accepted_events, kNow + kHourMs), Ids{});
}

TEST_P(FileRowsContract, TOOL_12_ImportedEventIsFoundByItsUid) {
  add(event_at("e1", kNow));
  EXPECT_FALSE(find("e1")->imported.has_value());

  ASSERT_TRUE(keep("e1", "uid@example.com", 3));

  auto const found = find("uid@example.com");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->event.id, "e1");
  EXPECT_EQ(found->imported->sequence, 3);
  EXPECT_FALSE(find("e1"));
  EXPECT_FALSE(find("uid@example.com", bob));
  EXPECT_EQ(uids(Part::own_events), Ids{"uid@example.com"});
  ASSERT_TRUE(keep("e1", "uid@example.com", 4));
  EXPECT_EQ(find("uid@example.com")->imported->sequence, 4);
}

TEST_P(FileRowsContract, TOOL_12_EventOfAnotherIsFoundByTheInvitation) {
  add(event_at("b1", kNow), bob);
  EXPECT_FALSE(find("b1"));

  accept("b1", kAnn, bob);

  EXPECT_EQ(find("b1")->event.invite_id, "inv-b1");
  EXPECT_EQ(find("inv-b1")->event.id, "b1");
}

TEST_P(FileRowsContract, TOOL_12_EventThatItsOwnerHasImportedIsAnotherOneForAGuest) {
  add(event_at("b1", kNow), bob);
  ASSERT_TRUE(keep("b1", "uid", 1, bob));
  accept("b1", kAnn, bob);
  add(event_at("e1", kNow));
  ASSERT_TRUE(keep("e1", "uid"));
  add(event_at("e2", kNow));
  ASSERT_TRUE(keep("e2", "b1"));

  EXPECT_EQ(uids(Part::own_events), (Ids{"uid", "b1"}));
  EXPECT_EQ(uids(Part::accepted_events), Ids{"inv-b1"});

  EXPECT_EQ(find("uid")->event.id, "e1");
  EXPECT_EQ(find("b1")->event.id, "e2");
  auto const accepted = find("inv-b1");
  EXPECT_EQ(accepted->event.id, "b1");
  EXPECT_FALSE(accepted->imported.has_value());
  EXPECT_FALSE(find("inv-b1", bob));
}

TEST_P(FileRowsContract, TOOL_12_RejectedInvitationIsFoundByItsOwnIdOnly) {
  add(event_at("b1", kNow), bob);
  accept("b1", kAnn, bob);

  ASSERT_TRUE(write(answer_invite(kAnn, "inv-b1", "rejected", kNow)));

  EXPECT_FALSE(find("b1"));
  EXPECT_EQ(find("inv-b1")->event.invite_status, "rejected");
}

TEST_P(FileRowsContract, TOOL_12_UidIsOneEventOfItsOwner) {
  add(event_at("e1", kNow));
  add(event_at("e2", kNow));
  add(event_at("b1", kNow), bob);
  ASSERT_TRUE(keep("e1", "uid"));

  EXPECT_FALSE(keep("e2", "uid"));
  EXPECT_TRUE(keep("b1", "uid", 1, bob));
}

TEST_P(FileRowsContract, HTTP_9_UidsCountInTheStorageUntilTheEventIsDeleted) {
  add(event_at("e1", kNow));
  auto const before = stored();

  ASSERT_TRUE(keep("e1", "晨"));
  EXPECT_EQ(std::stoll(stored()), std::stoll(before) + 203);
  ASSERT_TRUE(keep("e1", "晨", 2));
  EXPECT_EQ(std::stoll(stored()), std::stoll(before) + 203);
  ASSERT_TRUE(write(remove_event(kAnn, "e1")));

  EXPECT_EQ(stored(), "0");
}

TEST_P(FileRowsContract, TOOL_12_UserHasOneFeed) {
  run_async(rows().put_feed(kAnn, "hash1", 1)).value();
  run_async(rows().put_feed(kAnn, "hash2", 2)).value();

  EXPECT_FALSE(run_async(rows().feed_owner("hash1"))->has_value());
  EXPECT_EQ(run_async(rows().feed_owner("hash2")).value()->text, "ann");
  EXPECT_EQ(run_async(rows().feed_since(kAnn)).value(), 2);
  run_async(rows().remove_feed(kAnn)).value();
  EXPECT_FALSE(run_async(rows().feed_owner("hash2"))->has_value());
  EXPECT_FALSE(run_async(rows().feed_since(kAnn))->has_value());
}

TEST_P(FileRowsContract, TOOL_12_FeedsAndImportsAreFoundByIndexes) {
  sql("INSERT INTO calendar_events(id, owner_id, title, start_at, end_at, timezone, created_at, updated_at) "
      "WITH RECURSIVE n(i) AS (SELECT CAST(0 AS bigint) UNION ALL SELECT i + 1 FROM n WHERE i < 11999) "
      "SELECT 'e' || i, 'user' || (i % 400), 'x', 1746057600000 + i * 3600000, 1746061200000 + i * 3600000, "
      "'UTC', 1, "
      "1 FROM n");
  sql("INSERT INTO calendar_imports(event_id, owner_id, uid, sequence, modified_at, digest) "
      "SELECT id, owner_id, 'u' || id, 0, 0, '' FROM calendar_events");
  sql("INSERT INTO calendar_invites(id, event_id, owner_id, user_id, status, start_at, end_at, created_at, "
      "updated_at) SELECT 'i' || id, id, owner_id, 'user' || ((CAST(substr(id, 2) AS bigint) + 1) % 400), "
      "'accepted', start_at, end_at, 1, 1 FROM calendar_events");
  sql("INSERT INTO calendar_feeds(owner_id, hash, created_at) SELECT DISTINCT owner_id, 'h' || owner_id, 1 "
      "FROM calendar_events");
  sql("ANALYZE");
  RecordingSql recorded{store()};
  FileRows reading{recorded};

  for (auto const part : {Part::own_series, Part::own_events, Part::accepted_series, Part::accepted_events})
    run_async(reading.page(UserId{"user1"}, part, 1'746'057'600'000, {}, 100)).value();
  run_async(reading.find_uid(UserId{"user1"}, "ue1")).value();

  for (auto const& statement : recorded.was_read) {
    auto const plan = query_plan(GetParam(), store(), statement);
    EXPECT_EQ(whole_tables(plan), Ids{}) << plan;
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, FileRowsContract, testing::Values(sqlite_engine(), postgres_engine()),
                         engine_name);

}  // namespace
}  // namespace runnel::modules::calendar

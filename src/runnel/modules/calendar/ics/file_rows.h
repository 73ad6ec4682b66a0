#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runnel/core/ids.h"
#include "runnel/modules/calendar/ics/event_component.h"
#include "runnel/modules/calendar/repository.h"
#include "runnel/store/sql.h"

// The rows of feeds and imports.
namespace runnel::modules::calendar {

// What a file said about an event when it was imported last.
struct Imported {
  std::string uid;
  std::int64_t sequence = 0;
  std::int64_t modified_at = 0;
  std::string digest;
};

// An event that has a UID, and what was imported, if anything was.
struct KeptEvent {
  Event event;
  std::optional<Imported> imported;
};

// Keeps what was imported. The write fails with `conflict` or `already_exists` if the owner has another event
// with this UID.
store::SqlStatement keep_import(UserId const& owner, std::string event_id, Imported const& imported);

// The parts of a user's calendar, each of which is read page by page: the user's own events, and those of
// others to which the user has said yes; those that repeat, and those that do not.
enum class Part : std::uint8_t { own_series, own_events, accepted_series, accepted_events };

// The last event of a page. The first page is after the default.
struct PageEnd {
  std::int64_t at = 0;
  std::string id;
};

struct Page {
  std::vector<ExportedEvent> events;
  PageEnd end;
};

class FileRows {
 public:
  explicit FileRows(store::Sql& sql) : sql_{&sql} {}

  // The next `limit` events of this part that end after `since`, in an order of its own.
  store::Async<Page> page(UserId user, Part part, std::int64_t since, PageEnd after, std::size_t limit);

  // The event that a file calls so: one that was imported under this UID, or one that was made here and has
  // it as its id. Empty if the user has none. If none of the user's own is called so, it may be one of
  // another user, to which this one is invited: by the id of the invitation, also if it was rejected, or by
  // that of the event. Of such an event it is not said what its owner has imported.
  store::Async<std::optional<KeptEvent>> find_uid(UserId user, std::string uid);

  // Makes or renews the user's feed.
  store::Async<void> put_feed(UserId owner, std::string hash, std::int64_t now_ms);
  store::Async<void> remove_feed(UserId owner);
  // Since when the user has the feed. Empty if there is none.
  store::Async<std::optional<std::int64_t>> feed_since(UserId owner);
  // Only reads. Empty if there is no such feed.
  store::Async<std::optional<UserId>> feed_owner(std::string hash);

 private:
  store::Sql* sql_;
};

}  // namespace runnel::modules::calendar

#include "runnel/modules/profile/repository.h"

#include <boost/json.hpp>

#include <utility>
#include <variant>
#include <vector>

#include "runnel/core/json/parse.h"

namespace runnel::modules::profile {

using store::Async;
using store::SqlStatement;

namespace {

constexpr char kAddUser[] = "INSERT INTO users(id, created_at) VALUES ($1, $2) ON CONFLICT DO NOTHING";

constexpr char kPut[] = R"sql(
INSERT INTO profiles(user_id, username, bio, settings, country, updated_at) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (user_id) DO UPDATE SET username = excluded.username, bio = excluded.bio, settings = excluded.settings,
  country = excluded.country, updated_at = excluded.updated_at)sql";

constexpr char kFind[] =
    "SELECT username, bio, settings, country, updated_at FROM profiles WHERE user_id = $1";

Result<void> check(Row const& row) {
  if (!row.country.empty() && row.country.size() != 2) {
    return Error{Errc::invalid, "a profile's country must have two letters"};
  }
  if (!row.settings) return {};
  auto const settings = parse_json(*row.settings);
  auto const* const document = std::get_if<boost::json::value>(&settings);
  if (document == nullptr || !document->is_object()) {
    return Error{Errc::invalid, "a profile's settings must be a JSON object that every engine can store"};
  }
  return {};
}

std::vector<SqlStatement> put_statements(UserId const& user, Row const& row) {
  return {store::statement(kAddUser, user.text, row.updated_at),
          store::statement(kPut, user.text, row.username, row.bio, store::null_if_none(row.settings),
                           store::null_if_empty(row.country), row.updated_at)
              .touching(1)};
}

Row to_row(store::SqlResult const& found) {
  Row row;
  row.username = found.text(0, 0);
  row.bio = found.text(0, 1);
  if (!found.is_null(0, 2)) row.settings = found.text(0, 2);
  row.country = found.text(0, 3);
  row.updated_at = found.integer(0, 4);
  return row;
}

}  // namespace

Async<void> Repository::put(UserId user, Row row) {
  if (auto const ok = check(row); !ok) co_return ok.error();
  auto const written = co_await sql_->write(put_statements(user, row));
  if (!written) co_return written.error();
  co_return Result<void>{};
}

Async<std::optional<Row>> Repository::find(UserId user) {
  auto const found = co_await sql_->read(store::statement(kFind, user.text));
  if (!found) co_return found.error();
  if (found->empty()) co_return std::nullopt;
  co_return to_row(*found);
}

}  // namespace runnel::modules::profile

#include "runnel/store/testing/sqlite_under_test.h"

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "runnel/store/sqlite/db.h"
#include "runnel/store/sqlite/store.h"

namespace runnel::store {

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "runnel-store-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot create the temporary folder " + name);
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

Result<TextRows> sqlite_rows(std::string const& path, std::string const& statement) {
  try {
    sqlite::Db db{{path, sqlite::Access::read_write_create, {}}};
    sqlite::Query query{db, statement};
    TextRows rows;
    while (query.next()) {
      std::vector<std::string> cells;
      for (int i = 0; i < query.columns(); ++i) {
        cells.push_back(query.is_null(i) ? "null" : query.text(i));
      }
      rows.push_back(std::move(cells));
    }
    return rows;
  } catch (sqlite::SqlError const& error) {
    return to_error(error);
  }
}

namespace {

class SqliteUnderTest final : public StoreUnderTest {
 public:
  explicit SqliteUnderTest(std::vector<Migration> const& of_modules) : path_{folder_.file("runnel.db")} {
    SqliteOptions options;
    options.path = path_;
    options.module_migrations = of_modules;
    store_ = open_sqlite(std::move(options)).value();
  }

  Database& store() override { return *store_; }
  Result<TextRows> sql(std::string const& statement) override { return sqlite_rows(path_, statement); }

 private:
  TemporaryFolder folder_;
  std::string path_;
  std::unique_ptr<Database> store_;
};

}  // namespace

Engine sqlite_engine() {
  return Engine{"Sqlite", [](std::vector<Migration> const& of_modules) {
                  return std::make_unique<SqliteUnderTest>(of_modules);
                }};
}

}  // namespace runnel::store

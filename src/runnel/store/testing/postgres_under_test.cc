#include "runnel/store/testing/postgres_under_test.h"

#include <libpq-fe.h>

#include <atomic>
#include <memory>

#include "runnel/store/postgres/error.h"
#include "runnel/store/postgres/store.h"

namespace runnel::store {

Result<TextRows> postgres_rows(std::string const& url, std::string const& statement) {
  std::unique_ptr<PGconn, decltype(&PQfinish)> const connection{PQconnectdb(url.c_str()), PQfinish};
  if (PQstatus(connection.get()) != CONNECTION_OK) return postgres::to_error(connection.get());
  std::unique_ptr<PGresult, decltype(&PQclear)> const result{PQexec(connection.get(), statement.c_str()),
                                                             PQclear};
  auto const status = PQresultStatus(result.get());
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) return postgres::to_error(result.get());
  TextRows rows(static_cast<std::size_t>(PQntuples(result.get())));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (int column = 0; column < PQnfields(result.get()); ++column) {
      int const row = static_cast<int>(i);
      bool const null = PQgetisnull(result.get(), row, column) != 0;
      rows[i].emplace_back(null ? "null" : PQgetvalue(result.get(), row, column));
    }
  }
  return rows;
}

std::string fresh_postgres_schema(PostgresServer const& server) {
  static std::atomic<int> made{0};
  auto const schema = "test_" + std::to_string(++made);
  postgres_rows(server.url(), "CREATE SCHEMA " + schema).value();
  return server.url(schema);
}

namespace {

class PostgresUnderTest final : public StoreUnderTest {
 public:
  PostgresUnderTest(PostgresServer const& server, std::vector<Migration> const& of_modules)
      : url_{fresh_postgres_schema(server)} {
    PostgresOptions options;
    options.url = url_;
    options.module_migrations = of_modules;
    store_ = open_postgres(options).value();
  }

  Database& store() override { return *store_; }
  Result<TextRows> sql(std::string const& statement) override { return postgres_rows(url_, statement); }

 private:
  std::string url_;
  std::unique_ptr<Database> store_;
};

}  // namespace

Engine postgres_engine() {
  return Engine{"Postgres", [](std::vector<Migration> const& of_modules) -> std::unique_ptr<StoreUnderTest> {
                  auto const* const server = PostgresServer::instance();
                  return server == nullptr ? nullptr
                                           : std::make_unique<PostgresUnderTest>(*server, of_modules);
                }};
}

}  // namespace runnel::store

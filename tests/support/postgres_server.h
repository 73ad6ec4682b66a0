#pragma once

#include <string>

namespace runnel {

// The test program's own PostgreSQL: a fresh cluster in a private folder, reached over a socket in that
// folder. It commits as it does by default, but with fsync off, because no test simulates a power failure.
// It starts when it is first needed; it is stopped and removed when the program ends.
class PostgresServer {
 public:
  // Null if PostgreSQL is not installed. Throws if it is installed but does not start.
  static PostgresServer* instance();

  PostgresServer(PostgresServer const&) = delete;
  PostgresServer& operator=(PostgresServer const&) = delete;
  ~PostgresServer();

  // A connection string in libpq's keyword form; `schema` is the schema of unqualified names.
  [[nodiscard]] std::string url(std::string const& schema = "public") const;

 private:
  explicit PostgresServer(std::string bin);

  std::string bin_;
  std::string folder_;
  int pid_ = 0;
};

}  // namespace runnel

#pragma once

#include <string>

namespace runnel {

// A PostgreSQL of the test program's own: a fresh cluster in a private folder, reached over a socket in it.
// It commits as by default, but syncs nothing to the disk: no test takes the machine's power. Started when
// first asked for, stopped and removed when the program ends.
class PostgresServer {
 public:
  // Null: PostgreSQL is not installed. Throws where it is but does not start.
  static PostgresServer* instance();

  PostgresServer(PostgresServer const&) = delete;
  PostgresServer& operator=(PostgresServer const&) = delete;
  ~PostgresServer();

  // libpq's keyword form; `schema` is where unqualified names live.
  [[nodiscard]] std::string url(std::string const& schema = "public") const;

 private:
  explicit PostgresServer(std::string bin);

  std::string bin_;
  std::string folder_;
  int pid_ = 0;
};

}  // namespace runnel

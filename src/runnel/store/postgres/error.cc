#include "runnel/store/postgres/error.h"

#include <array>
#include <string>

namespace runnel::store::postgres {

namespace {

struct Mapping {
  std::string_view prefix;
  Errc code;
};

// The first prefix that matches applies.
constexpr std::array kMappings{
    Mapping{"RN001", Errc::fenced},         Mapping{"RN002", Errc::conflict},
    Mapping{"RN003", Errc::not_found},      Mapping{"RN004", Errc::invalid},
    Mapping{"RN005", Errc::over_budget},    Mapping{"RN006", Errc::open_calls},
    Mapping{"23505", Errc::already_exists}, Mapping{"23503", Errc::conflict},  // foreign key
    Mapping{"23", Errc::invalid},                                              // other constraints
    Mapping{"22", Errc::invalid},         // data that does not fit its type
    Mapping{"08", Errc::unavailable},     // connection
    Mapping{"25006", Errc::unavailable},  // read-only: a standby
    Mapping{"40", Errc::unavailable},     // serialization, deadlock
    Mapping{"53", Errc::unavailable},     // disk full, memory, connections
    Mapping{"55P03", Errc::unavailable},  // lock not available
    Mapping{"57", Errc::unavailable},     // canceled, shutting down, starting up
    Mapping{"58", Errc::unavailable},     // system and I/O errors
};

}  // namespace

Errc to_errc(std::string_view sqlstate) {
  if (sqlstate.empty()) return Errc::unavailable;
  for (auto const& mapping : kMappings) {
    if (sqlstate.starts_with(mapping.prefix)) return mapping.code;
  }
  return Errc::internal;
}

bool is_worth_repeating(std::string_view sqlstate) {
  return sqlstate == "40001" || sqlstate == "40P01";
}

Error to_error(PGresult const* result) {
  char const* const sqlstate = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  return Error{to_errc(sqlstate == nullptr ? "" : sqlstate),
               std::string{"PostgreSQL: "} + PQresultErrorMessage(result)};
}

Error to_error(PGconn const* connection) {
  return Error{Errc::unavailable, std::string{"PostgreSQL: "} + PQerrorMessage(connection)};
}

}  // namespace runnel::store::postgres

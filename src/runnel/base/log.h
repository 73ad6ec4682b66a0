#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace runnel::base {

enum class LogLevel { debug, info, warn, error };
enum class LogFormat { human, json };

// One named value of a log line.
struct Field {
  std::string_view key;
  std::string value;
  bool is_number = false;

  Field(std::string_view k, std::string_view v) : key{k}, value{v} {}
  Field(std::string_view k, char const* v) : key{k}, value{v} {}
  Field(std::string_view k, std::int64_t v) : key{k}, value{std::to_string(v)}, is_number{true} {}
};

struct LogOptions {
  LogLevel level = LogLevel::info;
  LogFormat format = LogFormat::human;
};

// Once, before the first line; until then lines of level warn and above go to stderr in human form.
void start_logging(LogOptions options);
void stop_logging();

// One line an event on stderr. `event` is a constant of the program; values are escaped, so one event is
// always one line. A field without a value is left out. A value whose key names a secret (token, key, secret,
// password, authorization, ticket), and anything that looks like a bearer token, a JWT or a ticket inside
// another value, is replaced by "[redacted]". Message text is never passed at info and above (CFG-4).
void log(LogLevel level, std::string_view event, std::initializer_list<Field> fields = {});

// The redaction by itself.
std::string redact(std::string_view key, std::string_view value);

}  // namespace runnel::base

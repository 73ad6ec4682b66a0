#pragma once

#include <chrono>
#include <cstddef>
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

// From now on lines are written by a thread of their own, and no caller waits for stderr: what does not fit
// into a queue of kLogQueueBytes is dropped and counted (decision 035). Until then, and after `stop_logging`,
// lines of level warn and above go to stderr at once, in human form.
inline constexpr std::size_t kLogQueueBytes = std::size_t{1} << 20U;
void start_logging(LogOptions options);

// Writes what waits, for at most `patience`. Where stderr takes nothing, what waits and all that comes later
// is dropped, so that nothing holds up the end of the process.
void stop_logging(std::chrono::milliseconds patience = std::chrono::seconds{1});

// A text for the operator, as it is, in order with the lines.
void log_text(std::string_view text);

// Lines that were not written, since the process began.
std::int64_t dropped_log_lines();

// One line an event on stderr. `event` is a constant of the program; values are escaped, so one event is
// always one line. A field without a value is left out. A value whose key names a secret (token, key, secret,
// password, authorization, ticket), and anything that looks like a bearer token, a JWT, a ticket or a dev
// secret inside another value, is replaced by "[redacted]". Message text is never passed at info and above
// (CFG-4).
void log(LogLevel level, std::string_view event, std::initializer_list<Field> fields = {});

// The redaction by itself.
std::string redact(std::string_view key, std::string_view value);

}  // namespace runnel::base

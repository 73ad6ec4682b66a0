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

// After this call a separate thread writes the lines, and no caller waits for stderr: a line that does not
// fit into a queue of kLogQueueBytes is dropped and counted (docs/decisions/035). Before it, and after
// `stop_logging`, lines of level warn and above go to stderr at once, in human form.
inline constexpr std::size_t kLogQueueBytes = std::size_t{1} << 20U;
void start_logging(LogOptions options);

// Writes the queued lines, for at most `patience`. If stderr does not accept them in that time, they and all
// later lines are dropped, so that the log cannot delay the end of the process.
void stop_logging(std::chrono::milliseconds patience = std::chrono::seconds{1});

// Writes a text for the operator as it is, in order with the log lines.
void log_text(std::string_view text);

// How many lines have been dropped since the process began.
std::int64_t dropped_log_lines();

// Writes one line per event to stderr. `event` is a constant of the program. Values are escaped, so one event
// is always one line. A field without a value is left out. A value whose key names a secret (token, key,
// secret, password, authorization, ticket) is replaced by "[redacted]", and so is anything inside another
// value that looks like a bearer token, a JWT, a ticket or a dev secret. Callers never pass message text at
// level info or above (CFG-4).
void log(LogLevel level, std::string_view event, std::initializer_list<Field> fields = {});

// The redaction that `log` applies to a value.
std::string redact(std::string_view key, std::string_view value);

}  // namespace runnel::base

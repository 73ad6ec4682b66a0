#pragma once

#include <boost/system/result.hpp>

#include <stdexcept>
#include <string>
#include <utility>

namespace runnel {

// Why an operation failed. Callers branch on this; only api/problem.cc maps it to an HTTP status.
enum class Errc {
  invalid,         // The input is wrong; the caller can correct it.
  not_found,       // There is no such thing, or it does not belong to the caller.
  already_exists,  // A unique name is taken.
  conflict,        // The thing exists, but its state forbids this.
  fenced,          // Another writer has taken over the run; this one may neither write nor show anything.
  unavailable,     // The store or an upstream server cannot answer; the same call may succeed later.
  over_budget,     // It would cost more than may be spent.
  open_calls,      // The thread has calls to its client's tools that the beginning of a run does not close.
  canceled,        // Someone asked for the work to stop.
  internal,        // A bug.
};

// `detail` is for the log: it never leaves the process.
struct Error {
  Errc code = Errc::internal;
  std::string detail;

  Error() = default;
  Error(Errc c, std::string d) : code{c}, detail{std::move(d)} {}
};

class ErrorException : public std::runtime_error {
 public:
  explicit ErrorException(Error error) : std::runtime_error(error.detail), error_{std::move(error)} {}
  [[nodiscard]] Error const& error() const { return error_; }

 private:
  Error error_;
};

// Boost finds this by argument-dependent lookup: it is what `Result::value()` throws if it holds an error.
[[noreturn]] inline void throw_exception_from_error(Error const& error,
                                                    boost::source_location const& /*where*/) {
  throw ErrorException(error);
}

template <class T>
using Result = boost::system::result<T, Error>;

}  // namespace runnel

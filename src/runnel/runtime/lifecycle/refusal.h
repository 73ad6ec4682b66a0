#pragma once

#include <string>
#include <utility>

namespace runnel::runtime {

// Why a request cannot be served, in words for the caller.
struct Refusal {
  enum class Kind { invalid, not_found, conflict, too_large, too_many, payment, storage, draining };
  Kind kind = Kind::invalid;
  std::string code;  // UPPER_SNAKE
  std::string message;
  std::string details = "{}";  // A JSON object.

  Refusal(Kind k, std::string c, std::string m, std::string d = "{}")
      : kind{k}, code{std::move(c)}, message{std::move(m)}, details{std::move(d)} {}
};

// The body is not what the route needs.
inline Refusal invalid_request(std::string message) {
  return {Refusal::Kind::invalid, "INVALID_REQUEST", std::move(message)};
}

}  // namespace runnel::runtime

#pragma once

#include <string>
#include <string_view>

#include "runnel/model/secret.h"

namespace runnel::model {

// Makes a provider's text safe for the log: one line of at most 300 characters, without the API key, any part
// of it that would help to guess the rest, or anything else that looks like a key.
class Redactor {
 public:
  explicit Redactor(Secret key) : key_{std::move(key)} {}

  [[nodiscard]] std::string operator()(std::string_view text) const;

 private:
  [[nodiscard]] bool is_secret(std::string_view word) const;

  Secret key_;
};

}  // namespace runnel::model

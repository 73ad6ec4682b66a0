#pragma once

#include <string>

#include "runnel/http/auth/authenticator.h"

namespace runnel::http {

// For tests: an authenticator with a known secret.
inline Authenticator test_authenticator(base::Clock const& clock) {
  return {base::KeyRing{base::SigningKey::from_secret(std::string(32, 'k')).value()}, base::TokenParties{},
          clock};
}

}  // namespace runnel::http

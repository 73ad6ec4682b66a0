#pragma once

#include <memory>
#include <string>

#include "runnel/api/router.h"
#include "runnel/base/clock.h"
#include "runnel/http/auth/authenticator.h"

namespace runnel::http {

// The user in dev mode (HTTP-5).
inline constexpr char kDevUser[] = "demo";

// POST /api/v1/auth/dev-token: issues a token for the dev user, valid for one day. The request must have a
// loopback Host and Origin, and must carry the dev mode secret in X-Runnel-Dev: a proxy in front of the
// server looks like this machine, but does not have the secret. The wiring adds this route in dev mode only.
void add_dev_token_route(api::Router& router, std::shared_ptr<Authenticator const> authenticator,
                         base::Clock const& clock, std::string secret);

}  // namespace runnel::http

#pragma once

#include <memory>
#include <string>

#include "runnel/base/clock.h"
#include "runnel/http/authenticator.h"
#include "runnel/http/router.h"

namespace runnel::http {

// The user of dev mode (HTTP-5).
inline constexpr char kDevUser[] = "demo";

// POST /api/v1/auth/dev-token: a day's token of the dev user, to a loopback Host and Origin only, and only to
// who sends the secret of dev mode in X-Runnel-Dev: a proxy that someone put in front of the server looks
// like this machine, but does not have it. For dev mode only: the wiring adds it there and nowhere else.
void add_dev_token_route(Router& router, std::shared_ptr<Authenticator const> authenticator,
                         base::Clock const& clock, std::string secret);

}  // namespace runnel::http

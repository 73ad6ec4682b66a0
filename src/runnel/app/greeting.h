#pragma once

#include <string>

#include "runnel/app/listen_address.h"
#include "runnel/app/settings.h"

namespace runnel::app {

// What is said at the start, on stdout, once the port is open.
struct Greeting {
  ListenAddress address;
  std::string data_dir;
  std::string report;      // What the server will do, in lines.
  std::string dev_secret;  // Empty: not dev mode.
};

std::string to_text(Greeting const& greeting);

// Writes it to stdout, and only there: in dev mode it holds the secret that opens the token (HTTP-5), which
// no log line may have. A stdout that takes nothing for a second is left alone; it must not hold up the
// signals.
void greet(Greeting const& greeting);

}  // namespace runnel::app

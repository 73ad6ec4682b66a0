#pragma once

#include <string>

#include "runnel/app/settings/listen_address.h"
#include "runnel/app/settings/settings.h"

namespace runnel::app {

// What the server prints to stdout at its start, once the port is open.
struct Greeting {
  ListenAddress address;
  std::string data_dir;
  std::string report;      // What the server will do, as lines of text.
  std::string dev_secret;  // Empty if the server is not in dev mode.
};

std::string to_text(Greeting const& greeting);

// Writes the greeting to stdout, and only there: in dev mode it holds the secret that gives access to the
// token (HTTP-5), and no log line may have that. If stdout accepts nothing for a second, the rest is left
// out, so that stdout cannot delay the handling of signals.
void greet(Greeting const& greeting);

}  // namespace runnel::app

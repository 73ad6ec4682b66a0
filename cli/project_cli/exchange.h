#pragma once

#include <string>
#include <variant>

namespace project_cli {

// The server's answer to a call.
struct Answer {
  unsigned status = 0;
  std::string body;
};

// What went wrong: SERVER_UNREACHABLE if the request could not be sent, INVALID_ANSWER if there is no answer
// to it that can be read.
struct Trouble {
  std::string code;
  std::string what;
};

// Sends POST /api/v1/tools/MODULE/METHOD with the credential over the connection that was inherited as
// descriptor 3, and reads the answer.
std::variant<Answer, Trouble> ask_server(std::string const& module, std::string const& method,
                                         std::string const& credential, std::string const& input);

}  // namespace project_cli

#include "runnel/app/greeting.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <climits>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "runnel/base/log/log.h"

namespace runnel::app {
namespace {

constexpr int kLongestWaitMs = 1000;

// The text as one word of a shell command.
std::string quoted(std::string const& text) {
  bool const plain = !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view{"/._-+:@%"}.find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (plain) return text;
  std::string out = "'";
  for (char const c : text)
    out += c == '\'' ? std::string{"'\\''"} : std::string(1, c);
  return out + "'";
}

std::string this_program() {
  std::error_code error;
  auto const path = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? "runnel" : path.string();
}

std::string absolute(std::string const& path) {
  std::error_code error;
  auto const whole = std::filesystem::weakly_canonical(path, error);
  return error ? path : whole.string();
}

}  // namespace

std::string to_text(Greeting const& greeting) {
  auto const url = to_url(greeting.address);
  auto text = fmt::format("listening on {}\n\n{}", url, greeting.report);
  if (greeting.dev_secret.empty()) return text;
  return text + fmt::format(R"(
Open this address in a browser. The part after #dev= is a secret that gives access, so keep it to yourself:

  {0}/#dev={1}

Or use another terminal:

  TOKEN=$({2} token --user demo --data-dir {3})

  curl -N {0}/api/v1/agent/ag-ui -H "Authorization: Bearer $TOKEN" \
    -d '{{"threadId":"hello","messages":[{{"id":"1","role":"user","content":"Hello, who are you?"}}]}}'

  curl "{0}/api/v1/agent/history?threadId=hello" -H "Authorization: Bearer $TOKEN"

Stop with Ctrl-C. To see runs survive a crash: kill -9 {4}
)",
                            url, greeting.dev_secret, quoted(this_program()),
                            quoted(absolute(greeting.data_dir)), ::getpid());
}

// A pipe that is ready for writing accepts PIPE_BUF bytes without waiting.
void greet(Greeting const& greeting) {
  auto const text = to_text(greeting);
  std::string_view rest{text};
  while (!rest.empty()) {
    pollfd waits{STDOUT_FILENO, POLLOUT, 0};
    bool const ready = ::poll(&waits, 1, kLongestWaitMs) == 1 && (waits.revents & POLLOUT) != 0;
    auto const piece = rest.substr(0, PIPE_BUF);
    auto const written = ready ? ::write(STDOUT_FILENO, piece.data(), piece.size()) : -1;
    if (written <= 0) {
      base::log(base::LogLevel::warn, "stdout does not accept the greeting");
      return;
    }
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace runnel::app

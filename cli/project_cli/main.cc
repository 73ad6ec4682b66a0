#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "cli/project_cli/command.h"
#include "cli/project_cli/exchange.h"
#include "cli/project_cli/input.h"
#include "cli/sandbox/sandbox.h"
#include "runnel/core/json/parse.h"
#include "runnel/core/json/write.h"

// The restricted command through which a model's tool calls reach the modules. It opens no file and no
// database and starts nothing: it checks what it was given, asks the server, and prints the answer.
namespace project_cli {
namespace {

namespace json = boost::json;

constexpr char kCredential[] = "RUNNEL_TOOL_CREDENTIAL";
constexpr char kSandbox[] = "RUNNEL_SANDBOX";

constexpr int kFailed = 1;

// The statuses of a good answer. A part of a batch has failed if it is the second one.
constexpr unsigned kWhole = 200;
constexpr unsigned kPartly = 207;

bool print(std::string_view text) {
  while (!text.empty()) {
    auto const wrote = ::write(STDOUT_FILENO, text.data(), text.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return true;
}

int print_error(std::string_view module, std::string_view method, std::string_view error) {
  std::string out;
  runnel::JsonObject{out}
      .boolean("ok", false)
      .text("module", module)
      .text("method", method)
      .raw("error", error)
      .close();
  print(out + "\n");
  return kFailed;
}

int print_data(Call const& call, bool partial, std::string_view data) {
  std::string out;
  runnel::JsonObject object{out};
  object.boolean("ok", true);
  if (partial) object.boolean("partial", true);
  object.text("module", call.module).text("method", call.method).raw("data", data).close();
  return print(out + "\n") ? 0 : kFailed;
}

int print_refusal(Refusal const& refusal) {
  std::string error;
  runnel::JsonObject{error}.text("code", refusal.code).text("message", refusal.message).close();
  return print_error(refusal.module, refusal.method, error);
}

int print_trouble(Call const& call, std::string code, std::string message) {
  return print_refusal({call.module, call.method, std::move(code), std::move(message)});
}

// Takes the credential out of the environment, so that nothing can read it there any more.
std::string take_credential() {
  char* const text = std::getenv(kCredential);
  if (text == nullptr) return {};
  std::string credential = text;
  ::explicit_bzero(text, credential.size());
  ::unsetenv(kCredential);
  return credential;
}

// What the server wants this process to give up is in a variable: options of runnel_sandbox with blanks
// between them. Without it the program was started by hand. Returns an empty text, or what failed and why.
std::string confine_itself(sandbox::Options& options) {
  auto const* const text = std::getenv(kSandbox);
  if (text == nullptr) return {};
  for (std::string_view rest{text}; !rest.empty();) {
    auto const option = rest.substr(0, rest.find(' '));
    if (!sandbox::read_option(option, options))
      return std::string{kSandbox} + ": bad option " + std::string{option};
    rest.remove_prefix(std::min(rest.size(), option.size() + 1));
  }
  ::unsetenv(kSandbox);
  return sandbox::confine(options);
}

// The error of an answer that is {"error":{…}}. Null if the answer is anything else.
json::object const* error_of(json::value const& answer) {
  auto const* const object = answer.if_object();
  auto const* const error = object != nullptr ? object->if_contains("error") : nullptr;
  return error != nullptr ? error->if_object() : nullptr;
}

// The body of a good answer is the data itself, which is passed on byte by byte.
int print_answer(Call const& call, Answer const& answer) {
  bool const is_good = answer.status == kWhole || answer.status == kPartly;
  if (is_good && !runnel::check_json_text(answer.body, 2 * runnel::kDefaultJsonDepth)) {
    return print_data(call, answer.status == kPartly, answer.body);
  }
  auto const parsed = runnel::parse_json(answer.body, 2 * runnel::kDefaultJsonDepth);
  auto const* const document = std::get_if<json::value>(&parsed);
  auto const* const error = document != nullptr && !is_good ? error_of(*document) : nullptr;
  if (error == nullptr) {
    return print_trouble(call, "INVALID_ANSWER",
                         "the server's answer with the status " + std::to_string(answer.status) +
                             " is neither data nor an error");
  }
  return print_error(call.module, call.method, json::serialize(*error));
}

int run(Call const& call) {
  auto const credential = take_credential();
  if (credential.empty()) {
    return print_trouble(
        call, "NO_CREDENTIAL",
        "there is no credential in the environment; the server starts this program with one for "
        "every tool call, and it can do nothing without it");
  }
  auto const input = read_input(call);
  if (auto const* const refusal = std::get_if<Refusal>(&input)) return print_refusal(*refusal);
  auto const answer = ask_server(call.module, call.method, credential, std::get<std::string>(input));
  if (auto const* const trouble = std::get_if<Trouble>(&answer)) {
    return print_trouble(call, trouble->code, trouble->what);
  }
  return print_answer(call, std::get<Answer>(answer));
}

}  // namespace
}  // namespace project_cli

int main(int argc, char** argv) {
  using namespace project_cli;
  // Before anything is read: nobody may read this process's memory or environment, also not from a core file.
  if (::prctl(PR_SET_DUMPABLE, 0) != 0) return kFailed;
  long const landlock = sandbox::landlock_version();
  sandbox::Options options;
  if (auto const bad = confine_itself(options); !bad.empty()) {
    std::fprintf(stderr, "%s%s\n", sandbox::kFailurePrefix, bad.c_str());
    return sandbox::kFailed;
  }
  if (options.probe) return print(sandbox::reached(options, landlock)) ? 0 : kFailed;
  auto const command = read_command({argv + 1, static_cast<std::size_t>(argc > 0 ? argc - 1 : 0)});
  if (std::holds_alternative<ShowVersion>(command))
    return print("project_cli " RUNNEL_VERSION "\n") ? 0 : kFailed;
  if (std::holds_alternative<ShowHelp>(command)) return print(help_text()) ? 0 : kFailed;
  if (auto const* const refusal = std::get_if<Refusal>(&command)) return print_refusal(*refusal);
  return run(std::get<Call>(command));
}

#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>

#include "cli/sandbox/sandbox.h"

namespace sandbox {

namespace {

template <class Number>
bool read_number(std::string_view text, Number& number) {
  auto const* const end = text.data() + text.size();
  auto const [at, error] = std::from_chars(text.data(), end, number);
  return error == std::errc{} && at == end;
}

bool read_ids(std::string_view text, Options& options) {
  auto const colon = text.find(':');
  Ids ids;
  if (colon == std::string_view::npos || !read_number(text.substr(0, colon), ids.user) ||
      !read_number(text.substr(colon + 1), ids.group)) {
    return false;
  }
  options.ids = ids;
  // The largest number means "unchanged" to the kernel.
  return ids.user != 0 && ids.group != 0 && ids.user != static_cast<uid_t>(-1) &&
         ids.group != static_cast<gid_t>(-1);
}

// Null if there is no option of this name without a value.
bool* flag_named(std::string_view name, Options& options) {
  if (name == "--network") return &options.network;
  if (name == "--require-landlock") return &options.landlock_required;
  if (name == "--require-tree") return &options.tree_required;
  return name == "--probe" ? &options.probe : nullptr;
}

}  // namespace

std::string failed(std::string const& what) {
  return what + ": " + std::strerror(errno);
}

bool read_option(std::string_view argument, Options& options) {
  auto const equals = argument.find('=');
  auto const name = argument.substr(0, equals);
  if (equals == std::string_view::npos) {
    bool* const is_set = flag_named(name, options);
    if (is_set != nullptr) *is_set = true;
    return is_set != nullptr;
  }
  auto const value = argument.substr(equals + 1);
  if (name == "--user") return read_ids(value, options);
  if (name == "--parent") return read_number(value, options.parent.emplace());
  if (name == "--memory") return read_number(value, options.memory_bytes);
  if (name == "--cpu") return read_number(value, options.cpu_seconds);
  if (name == "--processes") return read_number(value, options.processes);
  if (name != "--read" || value.empty()) return false;
  options.readable.emplace_back(value);
  return true;
}

std::string confine(Options& options) {
  for (auto const step :
       {&limit_resources, &unshare_as_root, &become_user, &unshare_as_user, &give_up_rights, &fork_tree,
        &limit_processes, &restrict_files, &restrict_system_calls, &forbid_growing_files}) {
    if (auto bad = step(options); !bad.empty()) return bad;
  }
  return {};
}

std::string reached(Options const& options, long landlock) {
  auto text = "{\"landlock\":" + std::to_string(landlock) + ",\"user\":" + std::to_string(::getuid()) +
              ",\"group\":" + std::to_string(::getgid());
  if (options.processes > 0) text += options.has_tree ? ",\"tree\":true" : ",\"tree\":false";
  return text + "}\n";
}

}  // namespace sandbox

#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>

#include "runnel/core/error.h"

namespace runnel::base {

enum class KeyKind {
  own_secret,  // Created by this server: only its owner may access it.
  secret,      // Only its owner may read it; if root owns it, its group may, too.
  public_key,  // Only its owner may write it.
};

// What is wrong with the owner or mode of a key file, for a server that runs as `user`, and what to do. Empty
// if nothing is wrong. The file must belong to that user or to root. If root owns a secret, its group may
// read it: this is how a service gets a secret that it must not change.
std::string key_file_fault(std::string const& path, KeyKind kind, struct stat const& info, uid_t user);

// The bytes of a key file. Fails with `invalid` if its owner or permissions are unsafe, if it is a symbolic
// link or not a regular file, or if it is too large; with `not_found` if it does not exist; and with
// `unavailable` if it cannot be read. The detail names the file and what to do.
Result<std::string> read_key_file(std::filesystem::path const& path, KeyKind kind);

// Writes `bytes` to a new file that only its owner may access, durably: the whole file appears at once or not
// at all. Also succeeds if another process created the file first; then that file is kept.
Result<void> create_key_file(std::filesystem::path const& path, std::string const& bytes);

// The content of one of the server's own secret files. If the file does not exist, it is created from `size`
// random bytes, in the form that `form` gives them. Processes that start at the same time all get the same
// secret.
Result<std::string> open_own_secret(std::filesystem::path const& path, std::size_t size,
                                    std::function<std::string(std::string const&)> const& form);

}  // namespace runnel::base

#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>

#include "runnel/core/error.h"

namespace runnel::http {

enum class KeyKind {
  own_secret,  // Made by this server: nobody but its user may touch it.
  secret,      // Nobody but its user may read it; where it is root's, its group may, too.
  public_key,  // Others may not replace it.
};

// What is wrong with a key file of that owner and mode for a server of that user, and what to do; empty:
// nothing. It must belong to the user or to root. Root's file may be open to its group, which is how a secret
// is given to a service that must not change it.
std::string key_file_fault(std::string const& path, KeyKind kind, struct stat const& info, uid_t user);

// A key file's bytes. Fails with `invalid` where its owner or permissions are unsafe, or it is a symbolic
// link or no regular file, with `not_found` where there is none, with `unavailable` where the disk refuses.
// The detail names the file and what to do.
Result<std::string> read_key_file(std::filesystem::path const& path, KeyKind kind);

// Writes `bytes` under a name that must not exist yet, for the owner only and durably: the whole file appears
// at once or not at all. Succeeds as well where another process was first; then that one's file stands.
Result<void> create_key_file(std::filesystem::path const& path, std::string const& bytes);

// The content of a secret file of the server's own. Where there is none, it is made of `size` random bytes,
// written in the form that `form` gives them. Of several processes that start at once, all get the same.
Result<std::string> open_own_secret(std::filesystem::path const& path, std::size_t size,
                                    std::function<std::string(std::string const&)> const& form);

}  // namespace runnel::http

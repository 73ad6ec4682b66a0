#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "runnel/core/error.h"

namespace runnel::http {

// The file in the data folder that holds the dev mode secret.
inline constexpr char kDevSecretFile[] = "dev.secret";

// The header in which a request for the dev token carries the secret.
inline constexpr char kDevSecretHeader[] = "X-Runnel-Dev";

// The secret that a request for the dev token needs (HTTP-5). The address that the server prints when it
// starts ends with it. It is kept in <data_dir>/dev.secret, so that the address stays the same after a
// restart. If the file does not exist, it is created (128 random bits as text, mode 0600); if the file is
// removed, the next start creates a new secret. Fails with `invalid` if the file holds something else or
// others may read it, and with `unavailable` if it cannot be read or written.
Result<std::string> open_dev_secret(std::filesystem::path const& data_dir);

// Whether the two are equal. The time that this takes does not reveal where they differ.
bool is_same_secret(std::string_view sent, std::string_view secret);

}  // namespace runnel::http

#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "runnel/core/error.h"

namespace runnel::http {

// The file of the data folder that has the secret of dev mode.
inline constexpr char kDevSecretFile[] = "dev.secret";

// The header in which a request for the dev token carries it.
inline constexpr char kDevSecretHeader[] = "X-Runnel-Dev";

// The secret that opens dev mode's token (HTTP-5): what the address that the server prints at its start ends
// with. It is kept in <data_dir>/dev.secret, which is made where there is none (128 random bits as text, mode
// 0600), so that the address outlives a restart; whoever removes the file has a new one at the next start.
// Fails with `invalid` where the file holds something else or others may read it, with `unavailable` where
// the disk refuses.
Result<std::string> open_dev_secret(std::filesystem::path const& data_dir);

// Whether they are the same, in a time that does not tell where they differ.
bool is_same_secret(std::string_view sent, std::string_view secret);

}  // namespace runnel::http

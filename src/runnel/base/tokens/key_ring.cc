#include "runnel/base/tokens/key_ring.h"

#include <algorithm>

#include "runnel/base/tokens/key_file.h"

namespace runnel::base {
namespace {

constexpr std::size_t kOwnSecretBytes = 32;

struct Entry {
  std::string kid;
  std::filesystem::path file;
};

Entry parse_entry(std::string const& text) {
  auto const equals = text.find('=');
  // A path may contain '=', but a kid may not contain '/'.
  if (equals == std::string::npos || text.find('/') < equals) return {"", text};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

// A text editor ends a file with a line break, which is not part of the secret.
std::string without_line_break(std::string bytes) {
  if (bytes.ends_with('\n')) bytes.pop_back();
  if (bytes.ends_with('\r')) bytes.pop_back();
  return bytes;
}

Result<SigningKey> load_key(Algorithm algorithm, std::filesystem::path const& file) {
  bool const is_secret = algorithm == Algorithm::hs256;
  auto bytes = read_key_file(file, is_secret ? KeyKind::secret : KeyKind::public_key);
  if (!bytes) return bytes.error();
  auto key = is_secret ? SigningKey::from_secret(without_line_break(std::move(*bytes)))
                       : SigningKey::from_public_pem(algorithm, *bytes);
  if (!key) return Error{key.error().code, "auth.keys: " + file.string() + " " + key.error().detail};
  return key;
}

}  // namespace

KeyRing::KeyRing(SigningKey secret) : KeyRing{Algorithm::hs256, {{"", std::move(secret)}}} {}

KeyRing::KeyRing(Algorithm algorithm, std::vector<std::pair<std::string, SigningKey>> keys)
    : algorithm_{algorithm}, keys_{std::move(keys)} {}

Result<KeyRing> KeyRing::load(Algorithm algorithm, std::vector<std::string> const& entries) {
  std::vector<std::pair<std::string, SigningKey>> keys;
  for (auto const& text : entries) {
    auto const entry = parse_entry(text);
    bool const repeated = std::any_of(keys.begin(), keys.end(),
                                      [&entry](auto const& other) { return other.first == entry.kid; });
    if (repeated && entry.kid.empty())
      return Error{Errc::invalid, "auth.keys: only one key may have no name; write the others as KID=FILE"};
    if (repeated) return Error{Errc::invalid, "auth.keys: two keys are called '" + entry.kid + "'"};
    auto key = load_key(algorithm, entry.file);
    if (!key) return key.error();
    keys.emplace_back(entry.kid, std::move(*key));
  }
  if (keys.empty()) return Error{Errc::invalid, "auth.keys names no key"};
  return KeyRing{algorithm, std::move(keys)};
}

SigningKey const* KeyRing::find(std::optional<std::string> const& kid) const {
  SigningKey const* nameless = nullptr;
  for (auto const& [name, key] : keys_) {
    if (name.empty()) {
      nameless = &key;
    } else if (kid == name) {
      return &key;
    }
  }
  return nameless;
}

Result<KeyRing> open_own_key(std::filesystem::path const& data_dir) {
  auto const path = std::filesystem::absolute(data_dir) / "auth.key";
  auto secret = open_own_secret(path, kOwnSecretBytes, [](std::string const& random) { return random; });
  if (!secret) return secret.error();
  if (secret->size() != kOwnSecretBytes) {
    return Error{Errc::invalid, path.string() + " does not hold 32 bytes; remove it to get a new secret"};
  }
  auto key = SigningKey::from_secret(std::move(*secret));
  if (!key) return key.error();
  return KeyRing{std::move(*key)};
}

}  // namespace runnel::base

#include "runnel/http/authenticator.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "runnel/http/jwt.h"

namespace runnel::http {
namespace {

constexpr std::size_t kSecretBytes = 32;
constexpr std::string_view kScheme = "Bearer ";

class File {
 public:
  explicit File(int descriptor) : descriptor_{descriptor} {}
  File(File const&) = delete;
  File& operator=(File const&) = delete;
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  [[nodiscard]] int get() const { return descriptor_; }
  [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }

 private:
  int descriptor_;
};

Error disk_error(char const* what, std::filesystem::path const& path) {
  return {Errc::unavailable, std::string{what} + " " + path.string() + ": " + std::strerror(errno)};
}

Result<std::string> read_secret(int descriptor, std::filesystem::path const& path) {
  struct stat info {};
  if (::fstat(descriptor, &info) != 0) return disk_error("cannot look at", path);
  if (!S_ISREG(info.st_mode)) return Error{Errc::invalid, path.string() + " is no file"};
  if ((info.st_mode & 077U) != 0) {
    return Error{Errc::invalid, path.string() + " can be read by others; run: chmod 600 " + path.string()};
  }
  std::string secret(kSecretBytes + 1, '\0');
  auto const got = ::read(descriptor, secret.data(), secret.size());
  if (got < 0) return disk_error("cannot read", path);
  if (got != static_cast<ssize_t>(kSecretBytes)) {
    return Error{Errc::invalid, path.string() + " does not hold 32 bytes; remove it to get a new secret"};
  }
  secret.resize(kSecretBytes);
  return secret;
}

Result<void> write_new_secret(std::filesystem::path const& path) {
  std::string secret(kSecretBytes, '\0');
  if (::getrandom(secret.data(), secret.size(), 0) != static_cast<ssize_t>(secret.size())) {
    return Error{Errc::unavailable, "the system gives no random bytes"};
  }
  File const file{::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600)};
  if (!file.is_open()) return disk_error("cannot create", path);
  bool const written =
      ::write(file.get(), secret.data(), secret.size()) == static_cast<ssize_t>(secret.size()) &&
      ::fsync(file.get()) == 0;
  if (!written) return disk_error("cannot write", path);
  return {};
}

// The whole file appears at once or not at all: it is written under another name and then linked, which fails
// where another process was first. That one's secret is then the secret.
Result<void> make_secret(std::filesystem::path const& path) {
  auto const fresh = path.string() + "." + mint_uuid();
  auto const written = write_new_secret(fresh);
  bool const linked = written.has_value() && (::link(fresh.c_str(), path.c_str()) == 0 || errno == EEXIST);
  auto const failure = disk_error("cannot create", path);
  ::unlink(fresh.c_str());
  if (!written) return written.error();
  if (!linked) return failure;

  File const directory{::open(path.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!directory.is_open() || ::fsync(directory.get()) != 0)
    return disk_error("cannot sync", path.parent_path());
  return {};
}

int open_secret(std::filesystem::path const& path) {
  return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

}  // namespace

Result<Authenticator> Authenticator::open(std::filesystem::path const& data_dir, base::Clock const& clock) {
  auto const path = std::filesystem::absolute(data_dir) / "auth.key";
  File const existing{open_secret(path)};
  if (existing.is_open()) {
    auto secret = read_secret(existing.get(), path);
    if (!secret) return secret.error();
    return Authenticator{std::move(*secret), clock};
  }
  if (errno != ENOENT) return disk_error("cannot open", path);

  auto const made = make_secret(path);
  if (!made) return made.error();
  File const file{open_secret(path)};
  if (!file.is_open()) return disk_error("cannot open", path);
  auto secret = read_secret(file.get(), path);
  if (!secret) return secret.error();
  return Authenticator{std::move(*secret), clock};
}

Authenticator::Authenticator(std::string secret, base::Clock const& clock)
    : secret_{std::move(secret)}, clock_{&clock} {}

Result<UserId> Authenticator::authenticate(Request const& request) const {
  if (request.count_headers("Authorization") != 1)
    return Error{Errc::invalid, "not one Authorization header"};
  auto const value = *request.header("Authorization");
  if (!equal_ignoring_case(value.substr(0, kScheme.size()), kScheme))
    return Error{Errc::invalid, "no bearer token"};

  auto const claims = verify_hs256(value.substr(kScheme.size()), secret_, now_s());
  if (!claims) return claims.error();
  return UserId{claims->subject};
}

std::string Authenticator::issue_token(UserId const& user, std::chrono::seconds ttl) const {
  auto const now = now_s();
  return sign_hs256({user.text, now, now + ttl.count()}, secret_);
}

}  // namespace runnel::http

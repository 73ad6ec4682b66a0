#include "tests/support/postgres_server.h"

#include <fcntl.h>
#include <grp.h>
#include <libpq-fe.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

namespace runnel {

namespace {

namespace fs = std::filesystem;

// PostgreSQL refuses to run as root. If the tests run as root, it runs as the user that its package created.
struct User {
  uid_t uid = 0;
  gid_t gid = 0;
};

User server_user() {
  if (geteuid() != 0) return {geteuid(), getegid()};
  for (auto const* const name : {"postgres", "nobody"}) {
    if (auto const* const entry = getpwnam(name)) return {entry->pw_uid, entry->pw_gid};
  }
  throw std::runtime_error("PostgreSQL cannot run as root, and there is no user 'postgres' or 'nobody'");
}

int start(std::vector<std::string> arguments, std::string const& folder) {
  auto const user = server_user();
  std::vector<char*> argv;
  for (auto& argument : arguments) {
    argv.push_back(argument.data());
  }
  argv.push_back(nullptr);
  std::string const log = folder + "/log";

  pid_t const pid = fork();
  if (pid < 0) throw std::runtime_error("cannot fork");
  if (pid > 0) return pid;
  prctl(PR_SET_PDEATHSIG, SIGQUIT);  // If the test program dies, its server is stopped as well.
  int const out = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
  dup2(out, STDOUT_FILENO);
  dup2(out, STDERR_FILENO);
  bool const ready =
      chdir("/") == 0 &&
      (geteuid() != 0 || (setgroups(0, nullptr) == 0 && setgid(user.gid) == 0 && setuid(user.uid) == 0));
  // Changing the user clears this setting.
  prctl(PR_SET_PDEATHSIG, SIGQUIT);
  if (ready) execv(argv[0], argv.data());
  _exit(127);
}

std::string newest_bin() {
  std::string best;
  std::error_code none;
  for (auto const& version : fs::directory_iterator("/usr/lib/postgresql", none)) {
    auto const bin = version.path() / "bin";
    if (fs::exists(bin / "initdb") && bin.string() > best) best = bin.string();
  }
  return best;
}

}  // namespace

PostgresServer* PostgresServer::instance() {
  static std::unique_ptr<PostgresServer> const server = [] {
    auto bin = newest_bin();
    return bin.empty() ? nullptr : std::unique_ptr<PostgresServer>{new PostgresServer(std::move(bin))};
  }();
  return server.get();
}

PostgresServer::PostgresServer(std::string bin) : bin_{std::move(bin)} {
  std::string folder = (fs::temp_directory_path() / "runnel-pg-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) throw std::runtime_error("cannot make the folder " + folder);
  folder_ = folder;
  auto const user = server_user();
  if (chown(folder_.c_str(), user.uid, user.gid) != 0)
    throw std::runtime_error("cannot change the owner of " + folder_);

  int status = 0;
  waitpid(start({bin_ + "/initdb", "-D", folder_ + "/data", "-U", "runnel", "--auth=trust", "-E", "UTF8",
                 "--locale=C.UTF-8", "--no-sync"},
                folder_),
          &status, 0);
  if (status != 0) throw std::runtime_error("initdb failed, see " + folder_ + "/log");
  pid_ = start({bin_ + "/postgres", "-D", folder_ + "/data", "-k", folder_, "-c", "listen_addresses=", "-c",
                "fsync=off"},
               folder_);
  for (int attempt = 0; PQping(url().c_str()) != PQPING_OK; ++attempt) {
    if (attempt == 600 || waitpid(pid_, &status, WNOHANG) != 0) {
      throw std::runtime_error("PostgreSQL does not start, see " + folder_ + "/log");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{50});
  }
}

PostgresServer::~PostgresServer() {
  kill(pid_, SIGINT);  // A fast shutdown: connections are cut, and data is written.
  int status = 0;
  waitpid(pid_, &status, 0);
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

std::string PostgresServer::url(std::string const& schema) const {
  return "host=" + folder_ + " user=runnel dbname=postgres options='-c search_path=" + schema + "'";
}

}  // namespace runnel

#include "runnel/http/routes/server/static_files.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "runnel/api/problem.h"
#include "runnel/api/router.h"
#include "runnel/base/blocking_pool.h"
#include "runnel/base/descriptor.h"

namespace runnel::http {
namespace {

namespace asio = boost::asio;

// A file is read into memory as a whole, once for all its readers. The files of a page are far smaller than
// this.
constexpr off_t kMaxBytes = off_t{16} * 1024 * 1024;

// The page may load files from this server and call it.
constexpr char kPagePolicy[] =
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; object-src 'none'; "
    "base-uri 'none'; frame-ancestors 'none'";

constexpr std::array<std::pair<std::string_view, char const*>, 18> kTypes{{
    {".html", "text/html; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".mjs", "text/javascript; charset=utf-8"},
    {".json", "application/json"},
    {".map", "application/json"},
    {".webmanifest", "application/manifest+json"},
    {".txt", "text/plain; charset=utf-8"},
    {".svg", "image/svg+xml"},
    {".png", "image/png"},
    {".jpg", "image/jpeg"},
    {".jpeg", "image/jpeg"},
    {".gif", "image/gif"},
    {".webp", "image/webp"},
    {".ico", "image/vnd.microsoft.icon"},
    {".woff", "font/woff"},
    {".woff2", "font/woff2"},
    {".wasm", "application/wasm"},
}};

char const* type_of(std::string_view path) {
  for (auto const& [ending, type] : kTypes) {
    if (path.ends_with(ending)) return type;
  }
  return "application/octet-stream";
}

api::Response not_found() {
  return api::problem(404, "NOT_FOUND", "There is no such file.");
}

// Whether all names in the path are plain: none is hidden, and none means another folder.
bool is_plain(std::string_view path) {
  if (path.empty() || path.find('\\') != std::string_view::npos) return false;
  for (;;) {
    auto const slash = path.find('/');
    auto const name = path.substr(0, slash);
    if (name.empty() || name.front() == '.') return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

int open_beneath(int folder, std::string const& path) {
  open_how how{};
  how.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  return static_cast<int>(::syscall(SYS_openat2, folder, path.c_str(), &how, sizeof how));
}

bool means_no_such_file(int error) {
  return error == ENOENT || error == ENOTDIR || error == ELOOP || error == EXDEV || error == ENAMETOOLONG;
}

Error refused_by_system(char const* what) {
  return {Errc::unavailable, std::string{what} + ": " + std::strerror(errno)};
}

// False if the file has fewer bytes than that.
bool read_whole(int file, std::string& into) {
  std::size_t at = 0;
  while (at < into.size()) {
    auto const got = ::read(file, into.data() + at, into.size() - at);
    if (got <= 0) return false;
    at += static_cast<std::size_t>(got);
  }
  return true;
}

std::string tag_of(struct stat const& info) {
  return '"' + std::to_string(info.st_mtim.tv_sec) + "-" + std::to_string(info.st_mtim.tv_nsec) + "-" +
         std::to_string(info.st_size) + '"';
}

struct Serving {
  std::unique_ptr<StaticFiles> files;
  base::BlockingPool pool{1};
};

// Not a coroutine itself: in a coroutine, g++ 12 destroys a temporary with captures twice.
asio::awaitable<Result<api::Response>> get_on_pool(Serving* serving, std::string path, std::string known) {
  // A raw pointer, because a job must not own its pool: the pool's thread would have to join itself.
  auto const* files = serving->files.get();
  return serving->pool.run<api::Response>(
      [files, path = std::move(path), known = std::move(known)](
          std::size_t /*thread*/) -> Result<api::Response> { return files->get(path, known); });
}

asio::awaitable<api::Reply> serve_file(std::shared_ptr<Serving> serving, api::Request request,
                                       std::string path) {
  std::string known{request.header("If-None-Match").value_or("")};
  auto answer = co_await get_on_pool(serving.get(), std::move(path), std::move(known));
  if (!answer) co_return api::problem_from(answer.error(), request.request_id);
  co_return std::move(*answer);
}

}  // namespace

Result<std::unique_ptr<StaticFiles>> StaticFiles::open(std::string const& folder) {
  int const descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) {
    return Error{Errc::invalid,
                 "http.static_dir: cannot open the folder " + folder + ": " + std::strerror(errno)};
  }
  std::unique_ptr<StaticFiles> files{new StaticFiles{descriptor}};
  base::Descriptor const itself{open_beneath(descriptor, ".")};
  if (itself.is_open()) return files;
  return Error{Errc::invalid,
               std::string{"http.static_dir: this system refuses openat2, which keeps requests within "
                           "the folder: "} +
                   std::strerror(errno)};
}

std::shared_ptr<std::string const> StaticFiles::bytes_of(int file, std::size_t size, std::string const& path,
                                                         std::string const& tag) const {
  std::scoped_lock const lock{mutex_};
  std::erase_if(being_sent_, [](auto const& item) { return item.second.expired(); });
  auto& known = being_sent_[path + tag];
  if (auto bytes = known.lock()) return bytes;
  auto fresh = std::make_shared<std::string>(size, '\0');
  if (!read_whole(file, *fresh)) return nullptr;
  known = fresh;
  return fresh;
}

Result<api::Response> StaticFiles::get(std::string const& path, std::string_view if_none_match) const {
  if (!is_plain(path)) return not_found();
  base::Descriptor const file{open_beneath(folder_.get(), path)};
  if (!file.is_open() && means_no_such_file(errno)) return not_found();
  if (!file.is_open()) return refused_by_system("cannot open a file in http.static_dir");
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return refused_by_system("cannot inspect a file in http.static_dir");
  if (!S_ISREG(info.st_mode) || info.st_size > kMaxBytes) return not_found();

  api::Response response;
  auto const tag = tag_of(info);
  response.headers = {{"ETag", tag}, {"Cache-Control", "no-cache"}};
  if (if_none_match == tag) {
    response.status = 304;
    return response;
  }
  response.content_type = type_of(path);
  if (path.ends_with(".html")) response.headers.emplace_back("Content-Security-Policy", kPagePolicy);
  response.shared_body = bytes_of(file.get(), static_cast<std::size_t>(info.st_size), path, tag);
  if (!response.shared_body) return not_found();  // The file has become shorter meanwhile.
  return response;
}

void add_static_files(api::Router& router, std::unique_ptr<StaticFiles> files) {
  auto const serving = std::make_shared<Serving>();
  serving->files = std::move(files);
  router.add_beside_contract(api::Method::get, "/", [serving](api::Request request) {
    return serve_file(serving, std::move(request), "index.html");
  });
  router.add_beside_contract(api::Method::get, "/{path...}", [serving](api::Request request) {
    auto path = request.param("path");
    return serve_file(serving, std::move(request), std::move(path));
  });
}

}  // namespace runnel::http

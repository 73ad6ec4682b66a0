#include "runnel/http/static_files.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "runnel/base/blocking_pool.h"
#include "runnel/base/descriptor.h"
#include "runnel/http/problem.h"
#include "runnel/http/router.h"

namespace runnel::http {
namespace {

namespace asio = boost::asio;

// A file is read whole into memory; a page's parts are far below this.
constexpr off_t kMaxBytes = off_t{16} * 1024 * 1024;

// The page may load what is beside it, and talk to this server.
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

Response not_found() {
  return problem(404, "NOT_FOUND", "There is no such address.");
}

// Plain names only: none hidden, none that means another folder.
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

// False: the file did not have that many bytes.
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

// No coroutine itself: g++ 12 destroys a temporary with captures twice in one.
asio::awaitable<Result<Response>> get_on_pool(Serving* serving, std::string path, std::string known) {
  auto const* files =
      serving->files.get();  // The pool must not own itself: its thread would have to join itself.
  return serving->pool.run<Response>(
      [files, path = std::move(path), known = std::move(known)](std::size_t /*thread*/) -> Result<Response> {
        return files->get(path, known);
      });
}

asio::awaitable<Reply> serve_file(std::shared_ptr<Serving> serving, Request request, std::string path) {
  std::string known{request.header("If-None-Match").value_or("")};
  auto answer = co_await get_on_pool(serving.get(), std::move(path), std::move(known));
  if (!answer) co_return problem_from(answer.error(), request.request_id);
  co_return std::move(*answer);
}

}  // namespace

Result<std::unique_ptr<StaticFiles>> StaticFiles::open(std::string const& folder) {
  int const descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) {
    return Error{Errc::invalid,
                 "http.static_dir: cannot open the folder " + folder + ": " + std::strerror(errno)};
  }
  return std::unique_ptr<StaticFiles>{new StaticFiles{descriptor}};
}

Response StaticFiles::get(std::string const& path, std::string_view if_none_match) const {
  if (!is_plain(path)) return not_found();
  base::Descriptor const file{open_beneath(folder_.get(), path)};
  struct stat info {};
  bool const served =
      file.is_open() && ::fstat(file.get(), &info) == 0 && S_ISREG(info.st_mode) && info.st_size <= kMaxBytes;
  if (!served) return not_found();

  Response response;
  auto const tag = tag_of(info);
  response.headers = {{"ETag", tag}, {"Cache-Control", "no-cache"}};
  if (if_none_match == tag) {
    response.status = 304;
    return response;
  }
  response.content_type = type_of(path);
  if (path.ends_with(".html")) response.headers.emplace_back("Content-Security-Policy", kPagePolicy);
  response.body.resize(static_cast<std::size_t>(info.st_size));
  if (!read_whole(file.get(), response.body)) return not_found();
  return response;
}

void add_static_files(Router& router, std::unique_ptr<StaticFiles> files) {
  auto const serving = std::make_shared<Serving>();
  serving->files = std::move(files);
  router.add_beside_contract(Method::get, "/", [serving](Request request) {
    return serve_file(serving, std::move(request), "index.html");
  });
  router.add_beside_contract(Method::get, "/{path...}", [serving](Request request) {
    auto path = request.param("path");
    return serve_file(serving, std::move(request), std::move(path));
  });
}

}  // namespace runnel::http

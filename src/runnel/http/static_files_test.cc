#include "runnel/http/static_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "runnel/core/ids.h"
#include "runnel/http/router.h"
#include "runnel/http/run_handler.h"

namespace runnel::http {
namespace {

namespace fs = std::filesystem;

class StaticFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(root / "site" / "assets");
    write("site/index.html", "<p>hello</p>");
    write("site/assets/app.js", "let x;");
    write("site/data.unknown", "bytes");
    write("site/.env", "SECRET");
    write("secret.txt", "SECRET");
    fs::create_symlink(root / "secret.txt", root / "site" / "link.txt");
    fs::create_directory_symlink(root, root / "site" / "up");
  }
  void TearDown() override { fs::remove_all(root); }

  void write(std::string const& name, std::string const& text) { std::ofstream{root / name} << text; }
  [[nodiscard]] std::unique_ptr<StaticFiles> files() const {
    return StaticFiles::open((root / "site").string()).value();
  }

  fs::path const root = fs::temp_directory_path() / ("runnel-static-" + mint_uuid());
};

std::string header_of(Response const& response, std::string_view name) {
  for (auto const& [key, value] : response.headers) {
    if (key == name) return value;
  }
  return "";
}

TEST_F(StaticFilesTest, FilesHaveTheirTypes) {
  auto const page = files()->get("index.html", "");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.body, "<p>hello</p>");
  EXPECT_EQ(page.content_type, "text/html; charset=utf-8");
  EXPECT_NE(header_of(page, "Content-Security-Policy"), "");
  EXPECT_EQ(files()->get("assets/app.js", "").content_type, "text/javascript; charset=utf-8");
  EXPECT_EQ(files()->get("data.unknown", "").content_type, "application/octet-stream");
}

TEST_F(StaticFilesTest, NothingOutsideTheFolderIsReached) {
  for (char const* path :
       {"", "/", ".", "..", "../secret.txt", "assets/../../secret.txt", "assets/../index.html", "/etc/passwd",
        "link.txt", "up/secret.txt", ".env", "assets", "assets/", "assets//app.js", "none.html",
        "..\\secret.txt", "index.html/", "./index.html", "/proc/self/environ"}) {
    auto const answer = files()->get(path, "");
    EXPECT_EQ(answer.status, 404) << path;
    EXPECT_EQ(answer.body.find("SECRET"), std::string::npos) << path;
  }
}

TEST_F(StaticFilesTest, UnchangedFileIsNotSentAgain) {
  auto const tag = header_of(files()->get("index.html", ""), "ETag");

  auto const again = files()->get("index.html", tag);
  EXPECT_EQ(again.status, 304);
  EXPECT_EQ(again.body, "");

  write("site/index.html", "<p>longer than before</p>");
  EXPECT_EQ(files()->get("index.html", tag).status, 200);
}

TEST_F(StaticFilesTest, HugeFileIsNotServed) {
  fs::resize_file(root / "site" / "data.unknown", 17 * 1024 * 1024);

  EXPECT_EQ(files()->get("data.unknown", "").status, 404);
}

TEST_F(StaticFilesTest, RoutesTakeWhatNoOtherDoes) {
  Router router;
  add_static_files(router, files());
  auto const ask = [&router](std::string const& path) {
    auto match = router.match(Method::get, path);
    auto& found = std::get<Router::Found>(match);
    Request request;
    request.params = found.params;
    return std::get<Response>(run_handler(found.route->handler(std::move(request))));
  };

  EXPECT_EQ(ask("/").body, "<p>hello</p>");
  EXPECT_EQ(ask("/assets/app.js").body, "let x;");
  EXPECT_EQ(ask("/%2e%2e/secret.txt").status, 404);
  EXPECT_EQ(ask("/..%2fsecret.txt").status, 404);
}

TEST_F(StaticFilesTest, MissingFolderIsAnError) {
  EXPECT_FALSE(StaticFiles::open((root / "none").string()));
  EXPECT_FALSE(StaticFiles::open((root / "secret.txt").string()));
}

}  // namespace
}  // namespace runnel::http

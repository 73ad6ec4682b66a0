#include "runnel/http/routes/server/static_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "runnel/api/router.h"
#include "runnel/api/testing/run_handler.h"
#include "runnel/core/ids.h"

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

boost::asio::awaitable<api::Reply> serve_nothing(api::Request /*request*/) {
  co_return api::empty_response(204);
}

std::string header_of(api::Response const& response, std::string_view name) {
  for (auto const& [key, value] : response.headers) {
    if (key == name) return value;
  }
  return "";
}

TEST_F(StaticFilesTest, FilesHaveTheirTypes) {
  auto const page = files()->get("index.html", "").value();
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.content(), "<p>hello</p>");
  EXPECT_EQ(page.content_type, "text/html; charset=utf-8");
  EXPECT_NE(header_of(page, "Content-Security-Policy"), "");
  EXPECT_EQ(files()->get("assets/app.js", "").value().content_type, "text/javascript; charset=utf-8");
  EXPECT_EQ(files()->get("data.unknown", "").value().content_type, "application/octet-stream");
}

TEST_F(StaticFilesTest, NothingOutsideTheFolderIsReached) {
  for (char const* path :
       {"", "/", ".", "..", "../secret.txt", "assets/../../secret.txt", "assets/../index.html", "/etc/passwd",
        "link.txt", "up/secret.txt", ".env", "assets", "assets/", "assets//app.js", "none.html",
        "..\\secret.txt", "index.html/", "./index.html", "/proc/self/environ"}) {
    auto const answer = files()->get(path, "").value();
    EXPECT_EQ(answer.status, 404) << path;
    EXPECT_EQ(answer.content().find("SECRET"), std::string::npos) << path;
  }
}

TEST_F(StaticFilesTest, UnchangedFileIsNotSentAgain) {
  auto const tag = header_of(files()->get("index.html", "").value(), "ETag");

  auto const again = files()->get("index.html", tag).value();
  EXPECT_EQ(again.status, 304);
  EXPECT_EQ(again.content(), "");

  write("site/index.html", "<p>longer than before</p>");
  EXPECT_EQ(files()->get("index.html", tag).value().status, 200);
}

TEST_F(StaticFilesTest, HugeFileIsNotServed) {
  fs::resize_file(root / "site" / "data.unknown", 17 * 1024 * 1024);

  EXPECT_EQ(files()->get("data.unknown", "").value().status, 404);
}

TEST_F(StaticFilesTest, RoutesTakeWhatNoOtherDoes) {
  api::Router router;
  router.add(api::Method::post, "/api/v1/things", api::Access::user, serve_nothing);
  add_static_files(router, files());
  auto const ask = [&router](std::string const& path) {
    auto match = router.match(api::Method::get, path);
    auto& found = std::get<api::Router::Found>(match);
    api::Request request;
    request.params = found.params;
    return std::get<api::Response>(api::run_handler(found.route->handler(std::move(request))));
  };

  EXPECT_EQ(ask("/").content(), "<p>hello</p>");
  EXPECT_EQ(ask("/assets/app.js").content(), "let x;");
  EXPECT_EQ(ask("/%2e%2e/secret.txt").status, 404);
  EXPECT_EQ(ask("/..%2fsecret.txt").status, 404);
  // The API still gives its own answers.
  EXPECT_TRUE(
      std::holds_alternative<api::Router::WrongMethod>(router.match(api::Method::get, "/api/v1/things")));
  EXPECT_TRUE(std::holds_alternative<api::Router::NoRoute>(router.match(api::Method::post, "/api/v1/nope")));
  EXPECT_TRUE(std::holds_alternative<api::Router::NoRoute>(router.match(api::Method::get, "/api/v1/nope")));
}

TEST_F(StaticFilesTest, AnswersAtOneTimeShareTheBytes) {
  auto const served = files();
  auto const first = served->get("index.html", "").value();
  auto const second = served->get("index.html", "").value();

  EXPECT_EQ(first.content().data(), second.content().data());
}

TEST_F(StaticFilesTest, MissingFolderIsAnError) {
  EXPECT_FALSE(StaticFiles::open((root / "none").string()));
  EXPECT_FALSE(StaticFiles::open((root / "secret.txt").string()));
}

}  // namespace
}  // namespace runnel::http

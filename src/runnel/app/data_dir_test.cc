#include "runnel/app/data_dir.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace runnel::app {
namespace {

namespace fs = std::filesystem;

class DataDirTest : public testing::Test {
 protected:
  DataDirTest() {
    char name[] = "/tmp/runnel-data-dir-XXXXXX";
    top = mkdtemp(name);
  }
  ~DataDirTest() override { fs::remove_all(top); }

  [[nodiscard]] std::string fault(fs::path const& path) const {
    auto const ensured = DataDir::ensure(path.string());
    if (ensured) return "none";
    auto detail = ensured.error().detail;
    for (auto at = detail.find(top.string()); at != std::string::npos; at = detail.find(top.string()))
      detail.replace(at, top.string().size() + 1, "");
    return detail;
  }

  fs::path top;
};

TEST_F(DataDirTest, IsMadeForItsOwnerOnlyAndMayBeRepeated) {
  EXPECT_EQ(fault(top / "new"), "none");
  EXPECT_EQ(fault(top / "new"), "none");
  EXPECT_EQ(fs::status(top / "new").permissions(), fs::perms::owner_all);
}

TEST_F(DataDirTest, OneThatIsOpenToOthersIsRefusedWithWhatToDo) {
  for (unsigned const mode : {0755u, 0750u, 0701u}) {
    fs::create_directory(top / "open");
    chmod((top / "open").c_str(), mode);
    EXPECT_EQ(fault(top / "open"), "the data folder open is open to others; run: chmod 700 open") << mode;
  }
}

TEST_F(DataDirTest, OneThatBelongsToSomebodyElseIsRefused) {
  fs::create_directory(top / "theirs");
  if (chown((top / "theirs").c_str(), 12345, 12345) != 0) GTEST_SKIP() << "only root can give a folder away";

  EXPECT_TRUE(
      fault(top / "theirs").starts_with("the data folder theirs belongs to user 12345, not to user "));
}

TEST_F(DataDirTest, SymbolicLinksAreRefused) {
  EXPECT_EQ(fault(top / "real"), "none");
  fs::create_directory_symlink(top / "real", top / "link");

  EXPECT_EQ(fault(top / "link"), "the data folder link is a symbolic link; name the folder itself: real");
  EXPECT_EQ(fault(top / "link/"), "the data folder link is a symbolic link; name the folder itself: real");
  for (char const* name : {"runnel.db", "runnel.db-wal", "runnel.lock"}) {
    std::ofstream{top / "elsewhere"} << "x";
    fs::create_symlink(top / "elsewhere", top / "real" / name);
    EXPECT_NE(fault(top / "real").find("is a symbolic link or not a regular file"), std::string::npos)
        << name;
    EXPECT_FALSE(DataDir::lock((top / "real").string()));
    fs::remove(top / "real" / name);
  }
}

TEST_F(DataDirTest, OneAtATimeHasTheLock) {
  auto const first = DataDir::lock((top / "d").string());

  ASSERT_TRUE(first);
  EXPECT_EQ(DataDir::lock((top / "d").string()).error().code, Errc::conflict);
}

}  // namespace
}  // namespace runnel::app

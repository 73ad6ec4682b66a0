#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "runnel/flow/load/loader.h"

namespace runnel::flow {
namespace {

namespace fs = std::filesystem;

using testing::HasSubstr;
using testing::UnorderedElementsAre;

// A temporary folder for one test.
class Folder {
 public:
  Folder() {
    std::string name = fs::temp_directory_path() / "runnel-flows-XXXXXX";
    path_ = mkdtemp(name.data());
    fs::create_directories(path_ / "flows");
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(Folder const&) = delete;
  Folder& operator=(Folder const&) = delete;

  [[nodiscard]] fs::path const& path() const { return path_; }

 private:
  fs::path path_;
};

TEST(ReadFiles, FLOW_1_TextsComeByTheirNames) {
  Folder const folder;
  std::ofstream{folder.path() / "agents.yaml"} << "a: b\n";
  std::ofstream{folder.path() / "flows" / "mine.yml"} << std::string(200'000, 'x');
  std::ofstream{folder.path() / "flows" / "notes.txt"} << "no flow";
  std::ofstream{folder.path() / "flows" / "empty.yaml"};

  auto const files = read_files(folder.path()).value();

  using testing::Pair;
  EXPECT_THAT(files.texts, UnorderedElementsAre(Pair("agents.yaml", "a: b\n"),
                                                Pair("flows/mine.yml", std::string(200'000, 'x')),
                                                Pair("flows/empty.yaml", "")));
  EXPECT_THAT(files.unreadable, UnorderedElementsAre());
}

TEST(ReadFiles, FLOW_1_WhatCannotBeReadIsToldByItsName) {
  Folder const folder;
  fs::create_directory(folder.path() / "tasks.yaml");
  fs::create_directory(folder.path() / "flows" / "folder.yaml");
  fs::create_symlink("nowhere", folder.path() / "flows" / "dangling.yaml");
  // Reading this file fails with EIO, because address 0 is not mapped.
  fs::create_symlink("/proc/self/mem", folder.path() / "flows" / "failing.yaml");

  auto const files = read_files(folder.path()).value();

  EXPECT_THAT(files.texts, UnorderedElementsAre());
  EXPECT_THAT(files.unreadable, UnorderedElementsAre("tasks.yaml", "flows/folder.yaml", "flows/dangling.yaml",
                                                     "flows/failing.yaml"));
}

TEST(ReadFiles, FLOW_1_FolderThatIsNotThereIsAnError) {
  auto const files = read_files("/nonexistent/conf");

  ASSERT_FALSE(files);
  EXPECT_THAT(files.error().detail, HasSubstr("/nonexistent/conf"));
}

}  // namespace
}  // namespace runnel::flow

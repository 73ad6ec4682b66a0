#pragma once

#include <string>

#include "runnel/core/error.h"
#include "runnel/store/store_contract.h"

namespace runnel::store {

// Gone with all that is in it when the test is over.
class TemporaryFolder {
 public:
  TemporaryFolder();
  TemporaryFolder(TemporaryFolder const&) = delete;
  TemporaryFolder& operator=(TemporaryFolder const&) = delete;
  ~TemporaryFolder();

  [[nodiscard]] std::string file(std::string const& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

Result<SqlRows> sqlite_rows(std::string const& path, std::string const& statement);

}  // namespace runnel::store

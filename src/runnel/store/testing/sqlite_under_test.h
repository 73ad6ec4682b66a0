#pragma once

#include <string>

#include "runnel/core/error.h"
#include "runnel/store/testing/store_contract.h"

namespace runnel::store {

// A folder that is deleted with its contents when the object is destroyed.
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

Result<TextRows> sqlite_rows(std::string const& path, std::string const& statement);

}  // namespace runnel::store

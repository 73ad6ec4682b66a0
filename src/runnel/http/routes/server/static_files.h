#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "runnel/api/message.h"
#include "runnel/base/descriptor.h"
#include "runnel/core/error.h"

namespace runnel::api {
class Router;
}

namespace runnel::http {

// The files of one folder, and nothing else. The kernel resolves each path beneath the folder (openat2) and
// follows no link. Names that begin with a dot are treated as missing, and folders are not listed. Any thread
// may call it; calls block.
class StaticFiles {
 public:
  // Fails with `invalid` if `folder` is not a folder that can be read, or if the system refuses openat2.
  static Result<std::unique_ptr<StaticFiles>> open(std::string const& folder);

  // `path` is relative and decoded. Returns 200, or 304 if the client's copy (`if_none_match`) is the same,
  // or 404. Fails with `unavailable` if the system refuses for any reason other than a missing file.
  [[nodiscard]] Result<api::Response> get(std::string const& path, std::string_view if_none_match) const;

 private:
  explicit StaticFiles(int folder) : folder_{folder} {}
  [[nodiscard]] std::shared_ptr<std::string const> bytes_of(int file, std::size_t size,
                                                            std::string const& path,
                                                            std::string const& tag) const;

  base::Descriptor folder_;
  mutable std::mutex mutex_;
  // Files that are being sent, by path and tag: any number of slow readers share one copy.
  mutable std::map<std::string, std::weak_ptr<std::string const>> being_sent_;
};

// Serves the folder under /, with index.html for / itself. It takes only requests that no other route takes.
void add_static_files(api::Router& router, std::unique_ptr<StaticFiles> files);

}  // namespace runnel::http

#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "runnel/base/descriptor.h"
#include "runnel/core/error.h"
#include "runnel/http/message.h"

namespace runnel::http {

class Router;

// The files of one folder, and nothing else: the kernel resolves each path beneath the folder (openat2) and
// follows no link, names that begin with a dot do not exist, and there are no listings. Any thread may call;
// calls block.
class StaticFiles {
 public:
  // Fails with `invalid` where `folder` is none that can be read.
  static Result<std::unique_ptr<StaticFiles>> open(std::string const& folder);

  // `path` is relative and decoded. 200, or 304 where the client's copy (`if_none_match`) is the same, or
  // 404. Fails with `unavailable` where the system refuses for another reason than that there is no such
  // file.
  [[nodiscard]] Result<Response> get(std::string const& path, std::string_view if_none_match) const;

 private:
  explicit StaticFiles(int folder) : folder_{folder} {}
  [[nodiscard]] std::shared_ptr<std::string const> bytes_of(int file, std::size_t size,
                                                            std::string const& path,
                                                            std::string const& tag) const;

  base::Descriptor folder_;
  mutable std::mutex mutex_;
  // What is being sent now, by path and tag: any number of slow readers share one copy.
  mutable std::map<std::string, std::weak_ptr<std::string const>> being_sent_;
};

// Serves the folder under /: index.html for / itself. It takes what no other route does.
void add_static_files(Router& router, std::unique_ptr<StaticFiles> files);

}  // namespace runnel::http

#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runnel/api/openapi_contract.h"
#include "runnel/api/openapi_document.h"
#include "runnel/modules/calendar/schemas/schemas.h"
#include "runnel/modules/memory/schemas.h"

namespace runnel {

// Whether the part of this folder is made from several files, by a function.
inline bool is_made(std::filesystem::path const& folder) {
  return folder.filename() == "calendar" || folder.filename() == "memory";
}

// The contract of all routes, assembled from every openapi.json in the source tree.
inline std::shared_ptr<api::OpenApiContract const> make_openapi_contract() {
  std::vector<std::string> texts;
  for (auto const& entry : std::filesystem::recursive_directory_iterator{RUNNEL_SOURCE_DIR "/src/runnel"}) {
    if (entry.path().filename() != "openapi.json" || is_made(entry.path().parent_path())) continue;
    std::ifstream file{entry.path()};
    texts.emplace_back(std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{});
  }
  texts.emplace_back(modules::calendar::openapi());
  texts.emplace_back(modules::memory::openapi_part());
  return std::make_shared<api::OpenApiContract const>(api::assemble_openapi({texts.begin(), texts.end()}));
}

inline std::shared_ptr<api::OpenApiContract const> openapi_contract() {
  static auto const contract = make_openapi_contract();
  return contract;
}

}  // namespace runnel

#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "runnel/flow/load/loader.h"

// For the tests of the loader: the shipped files, which the tests change.
namespace runnel::flow {

inline constexpr char kThree[] = "flows/intent_execution_organization.yaml";
inline constexpr char kTwo[] = "flows/router_worker.yaml";
inline constexpr char kChat[] = "flows/chat.yaml";

inline Files shipped_files() {
  auto files = read_files(std::string{RUNNEL_SOURCE_DIR} + "/conf").value();
  files.folder = "conf";
  return files;
}

inline Known known_things() {
  Known known;
  known.model = [](std::string const& model) { return model == "offline"; };
  known.models = {"offline"};
  known.tools = {"project_cli"};
  known.methods = {"calendar.create", "calendar.read"};
  known.skills = {{"calendar", "Dates."}, {"contacts", "People."}, {"memory", "Notes."}};
  known.default_flow = "router_worker";
  return known;
}

inline std::vector<std::string> problems_in(Files const& files) {
  return load_catalog(files, known_things()).problems;
}

// "FILE:LINE:COLUMN:" of the first occurrence of a text.
inline std::string place_of(Files const& files, std::string const& file, std::string_view text) {
  std::string_view const whole = files.texts.at(file);
  auto const at = whole.find(text);
  EXPECT_NE(at, std::string_view::npos) << text;
  auto const before = whole.substr(0, std::min(at, whole.size()));
  auto const line = std::count(before.begin(), before.end(), '\n') + 1;
  auto const line_begin = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  return "conf/" + file + ":" + std::to_string(line) + ":" + std::to_string(before.size() - line_begin + 1) +
         ":";
}

inline void replace_once(std::string& text, std::string_view from, std::string_view to) {
  auto const at = text.find(from);
  ASSERT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
}

}  // namespace runnel::flow

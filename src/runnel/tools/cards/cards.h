#pragma once

#include <string>
#include <utility>
#include <vector>

#include "runnel/core/card/card.h"
#include "runnel/tools/tool.h"

namespace runnel::tools {

// The cards of all methods that have one.
class Cards {
 public:
  Cards() = default;
  explicit Cards(std::vector<CardForm> forms) : forms_{std::move(forms)} {}

  // Gives the outcome its `ui_hints` and, made from them for the job's reader, its card. A failure has none,
  // and neither has a method without a form.
  void put_on(ToolOutcome& outcome, std::string const& method, ToolJob const& job) const;

 private:
  [[nodiscard]] CardForm const* find(std::string const& method) const;

  std::vector<CardForm> forms_;
};

}  // namespace runnel::tools

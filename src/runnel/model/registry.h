#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runnel/model/provider.h"

namespace runnel::model {

// All models a run may name.
class Registry {
 public:
  // At least one provider; the first one's first model is the default.
  explicit Registry(std::vector<std::unique_ptr<Provider>> providers) : providers_{std::move(providers)} {}

  // Null: no provider serves that name.
  [[nodiscard]] Provider* find(std::string const& model) const {
    for (auto const& provider : providers_) {
      if (provider->serves(model)) return provider.get();
    }
    return nullptr;
  }

  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (auto const& provider : providers_) {
      for (auto& name : provider->models())
        names.push_back(std::move(name));
    }
    return names;
  }

  [[nodiscard]] std::string default_name() const { return names().front(); }

 private:
  std::vector<std::unique_ptr<Provider>> providers_;
};

}  // namespace runnel::model

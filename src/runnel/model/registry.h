#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runnel/model/provider.h"

namespace runnel::model {

// All models that a run may name.
class Registry {
 public:
  struct Candidate {
    Provider* provider = nullptr;
    std::string model;
  };

  // There must be at least one provider. A run that names no model gets `default_name` or, if that is empty,
  // the first model of the first provider. If a model fails, the `fallbacks` are tried in their order.
  explicit Registry(std::vector<std::unique_ptr<Provider>> providers, std::string default_name = {},
                    std::vector<std::string> fallbacks = {})
      : providers_{std::move(providers)},
        default_name_{default_name.empty() ? names().front() : std::move(default_name)},
        fallbacks_{std::move(fallbacks)} {}

  // Null if no provider serves that name.
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

  [[nodiscard]] std::string const& default_name() const { return default_name_; }

  // What to try for `model`, in this order. Empty if no provider serves it.
  [[nodiscard]] std::vector<Candidate> candidates(std::string const& model) const {
    std::vector<Candidate> out;
    if (auto* const provider = find(model)) out.push_back({provider, model});
    for (auto const& name : fallbacks_) {
      auto* const provider = find(name);
      if (!out.empty() && provider != nullptr && name != model) out.push_back({provider, name});
    }
    return out;
  }

 private:
  std::vector<std::unique_ptr<Provider>> providers_;
  std::string default_name_;
  std::vector<std::string> fallbacks_;
};

}  // namespace runnel::model

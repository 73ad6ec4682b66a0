#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runnel/flow/conf_file.h"
#include "runnel/flow/contract.h"
#include "runnel/flow/load_agents.h"

namespace runnel::flow {

struct LoadedContract {
  std::shared_ptr<Contract const> contract;  // Null: it has a mistake, so nothing can be said of its fields.
  std::vector<Contract::Rule> rules;
};

// contracts.yaml: by name a JSON Schema and the rules between its fields.
ByName<LoadedContract> load_contracts(ConfFile& file);

}  // namespace runnel::flow

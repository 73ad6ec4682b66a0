#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runnel/flow/load/conf_file.h"
#include "runnel/flow/load/load_agents.h"
#include "runnel/flow/output/contract.h"

namespace runnel::flow {

struct LoadedContract {
  std::shared_ptr<Contract const> contract;  // Null if it has a mistake: then its fields are unknown.
  std::vector<Contract::Rule> rules;
};

// contracts.yaml: for each name, a JSON Schema and the rules between its fields.
ByName<LoadedContract> load_contracts(ConfFile& file);

}  // namespace runnel::flow

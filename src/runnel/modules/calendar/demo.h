#pragma once

#include <vector>

#include "runnel/modules/module.h"
#include "runnel/store/sql.h"

namespace runnel::modules::calendar {

// Adds four events around today, one of them another user's, who has invited this one. The write fails with
// `conflict` if they are there already.
std::vector<store::SqlStatement> demo_statements(DemoUser const& demo);

}  // namespace runnel::modules::calendar

#pragma once

#include "runnel/app/settings/settings.h"
#include "runnel/tools/tool.h"

namespace runnel::app {

// The tools that flows may name: those that the settings switch on.
tools::Toolbox make_toolbox(Settings const& settings);

}  // namespace runnel::app

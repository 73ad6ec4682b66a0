#pragma once

#include <cstddef>

#include "runnel/api/message.h"
#include "runnel/runtime/lifecycle/run_input.h"

// What the routes that start a run answer if they do not.
namespace runnel::http {

api::Response refused(runtime::Refusal const& refusal);

api::Response message_too_large(std::size_t size, std::size_t limit);

}  // namespace runnel::http

#pragma once

#include <boost/asio/awaitable.hpp>

#include <string>

#include "runnel/base/descriptor.h"
#include "runnel/base/tokens/tool_credentials.h"
#include "runnel/core/error.h"

namespace runnel::tools {

// What became of a call: the data of its effect, or the error with which it ended without one. JSON objects.
struct CallReceipt {
  bool took_effect = false;
  std::string json;
  bool partial = false;  // Whether only a part of a batch took effect.
};

// How project_cli reaches the modules, and how the server learns what became of a call. Used on a core.
class ModuleAccess {
 public:
  ModuleAccess() = default;
  ModuleAccess(ModuleAccess const&) = delete;
  ModuleAccess& operator=(ModuleAccess const&) = delete;
  virtual ~ModuleAccess() = default;

  // One end of a new connection to the modules' route (TOOL-2). Fails with `unavailable`.
  virtual Result<base::Descriptor> connect() = 0;

  // Decides a call whose program has failed or is gone, so that its effect cannot happen later: returns the
  // receipt of the call's effect if it has happened; otherwise the call ends with `error`, or with the error
  // that was written before. Fails with `unavailable` if the store does not answer, and with `fenced` if
  // another writer has the call.
  virtual boost::asio::awaitable<Result<CallReceipt>> settle(base::ToolGrant grant, std::string error) = 0;
};

}  // namespace runnel::tools

#pragma once

#include <vector>

#include "runnel/base/clock.h"
#include "runnel/base/cores.h"
#include "runnel/base/tokens/tool_credentials.h"
#include "runnel/http/connection/server.h"
#include "runnel/modules/method.h"
#include "runnel/modules/tool_calls.h"
#include "runnel/store/sql.h"
#include "runnel/tools/module_access.h"

namespace runnel::app {

// The server that project_cli reaches through its inherited connection. It listens nowhere, has the modules'
// route and no other (TOOL-2), and takes only the credentials that it mints. Other limits than its own do not
// count what is asked here.
class ToolServer final : public tools::ModuleAccess {
 public:
  struct Parts {
    base::Cores& cores;
    store::Sql& sql;
    base::Clock const& clock;
    std::vector<modules::Method> methods;
    std::int64_t storage_bytes_per_user = 0;
    std::size_t output_bytes = 0;
  };

  // Except for the methods, the parts outlive it.
  explicit ToolServer(Parts parts);

  // The cores must run, also when it stops. Stop it when no run can start a tool any more.
  void start() { server_.start(); }
  void stop() { server_.stop(); }

  [[nodiscard]] base::ToolCredentials const& credentials() const { return credentials_; }

  Result<base::Descriptor> connect() override;
  boost::asio::awaitable<Result<tools::CallReceipt>> settle(base::ToolGrant grant,
                                                            std::string error) override;

 private:
  base::ToolCredentials credentials_;
  modules::ToolCalls calls_;
  http::Server server_;
};

}  // namespace runnel::app

#include "runnel/store/rows.h"

namespace runnel::store {

char const* to_string(RunStatus status) {
  switch (status) {
    case RunStatus::queued:
      return "queued";
    case RunStatus::pending:
      return "pending";
    case RunStatus::running:
      return "running";
    case RunStatus::awaiting_approval:
      return "awaiting_approval";
    case RunStatus::completed:
      return "completed";
    case RunStatus::failed:
      return "failed";
    case RunStatus::canceled:
      return "canceled";
  }
  return "failed";
}

std::optional<RunStatus> parse_run_status(std::string const& text) {
  for (auto const status :
       {RunStatus::queued, RunStatus::pending, RunStatus::running, RunStatus::awaiting_approval,
        RunStatus::completed, RunStatus::failed, RunStatus::canceled}) {
    if (text == to_string(status)) return status;
  }
  return std::nullopt;
}

bool is_ended(RunStatus status) {
  return status == RunStatus::completed || status == RunStatus::failed || status == RunStatus::canceled;
}

char const* to_string(ThreadStatus status) {
  switch (status) {
    case ThreadStatus::pending:
      return "pending";
    case ThreadStatus::running:
      return "running";
    case ThreadStatus::completed:
      return "completed";
    case ThreadStatus::failed:
      return "failed";
  }
  return "failed";
}

std::optional<ThreadStatus> parse_thread_status(std::string const& text) {
  for (auto const status :
       {ThreadStatus::pending, ThreadStatus::running, ThreadStatus::completed, ThreadStatus::failed}) {
    if (text == to_string(status)) return status;
  }
  return std::nullopt;
}

char const* to_string(RuntimeMode mode) {
  return mode == RuntimeMode::chat ? "chat" : "automation";
}

char const* to_string(Role role) {
  switch (role) {
    case Role::user:
      return "user";
    case Role::assistant:
      return "assistant";
    case Role::system:
      return "system";
    case Role::tool:
      return "tool";
  }
  return "system";
}

std::optional<Role> parse_role(std::string const& text) {
  for (auto const role : {Role::user, Role::assistant, Role::system, Role::tool}) {
    if (text == to_string(role)) return role;
  }
  return std::nullopt;
}

}  // namespace runnel::store

#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runnel/base/json_schema.h"
#include "runnel/http/message.h"

namespace runnel::http {

// What the OpenAPI document promises of one route.
struct Operation {
  Method method = Method::other;
  std::string path;                      // As a router's pattern.
  bool for_anyone = false;               // Whether it may be called without credentials,
  bool for_users = false;                // and whether credentials may be asked for.
  std::vector<std::string> query;        // The names of its query parameters.
  std::vector<int> statuses;             // Every one that it may answer with.
  std::optional<base::JsonSchema> body;  // None: it takes no body.

  [[nodiscard]] bool has_query(std::string_view name) const;
  [[nodiscard]] bool has_status(int status) const;
};

// The OpenAPI document as the server enforces it. It never changes.
class Contract {
 public:
  // Throws std::logic_error where the document is no OpenAPI 3.0, where a path and its parameters differ,
  // where two operations have one id, and where a body's schema could not be enforced.
  explicit Contract(std::string_view document);

  // Null: the document has no such operation.
  [[nodiscard]] Operation const* find(Method method, std::string_view path) const;

  [[nodiscard]] std::vector<Operation> const& operations() const { return operations_; }

 private:
  std::vector<Operation> operations_;
};

}  // namespace runnel::http

#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runnel/api/message.h"
#include "runnel/base/schema/json_schema.h"

namespace runnel::api {

// What the OpenAPI document promises for one route.
struct Operation {
  Method method = Method::other;
  std::string path;                      // In the form of a router's pattern.
  bool for_anyone = false;               // Whether it may be called without credentials.
  bool for_users = false;                // Whether it may ask for credentials.
  std::vector<std::string> query;        // The names of its query parameters.
  std::vector<int> statuses;             // Every status that it may answer with.
  std::optional<base::JsonSchema> body;  // Of a JSON body. Empty if it takes none.
  // The media type of a body that is not JSON; the handler gets the bytes as they are. Empty if it takes
  // none.
  std::string other_body;

  [[nodiscard]] bool takes_body() const { return body.has_value() || !other_body.empty(); }
  [[nodiscard]] bool has_query(std::string_view name) const;
  [[nodiscard]] bool has_status(int status) const;
};

// The OpenAPI document as the server enforces it. It never changes.
class OpenApiContract {
 public:
  // Throws std::logic_error if the document is not OpenAPI 3.0, if a path and its parameters differ, if an
  // operation has no operationId of its own, or if the schema of a body cannot be enforced.
  explicit OpenApiContract(std::string_view document);

  // Null if the document has no such operation.
  [[nodiscard]] Operation const* find(Method method, std::string_view path) const;

  [[nodiscard]] std::vector<Operation> const& operations() const { return operations_; }

 private:
  std::vector<Operation> operations_;
};

}  // namespace runnel::api

#include "runnel/http/routes/start_answers.h"

#include <cstdint>
#include <string>

#include "runnel/api/problem.h"
#include "runnel/core/json/write.h"

namespace runnel::http {

api::Response refused(runtime::Refusal const& refusal) {
  using Kind = runtime::Refusal::Kind;
  int const status = refusal.kind == Kind::invalid     ? 400
                     : refusal.kind == Kind::not_found ? 404
                     : refusal.kind == Kind::conflict  ? 409
                     : refusal.kind == Kind::too_large ? 413
                     : refusal.kind == Kind::too_many  ? 429
                     : refusal.kind == Kind::payment   ? 402
                     : refusal.kind == Kind::storage   ? 507
                                                       : 503;
  auto response = api::problem(status, refusal.code, refusal.message, refusal.details);
  if (status == 429 || status == 503) response.headers.emplace_back("Retry-After", "1");
  return response;
}

api::Response message_too_large(std::size_t size, std::size_t limit) {
  std::string details;
  JsonObject object{details};
  object.number("sizeBytes", static_cast<std::int64_t>(size));
  object.number("limitBytes", static_cast<std::int64_t>(limit)).close();
  return api::problem(413, "MESSAGE_TOO_LARGE",
                      "The newest user message has " + std::to_string(size) + " bytes; at most " +
                          std::to_string(limit) +
                          " are allowed. Shorten it, or split it into several messages.",
                      details);
}

}  // namespace runnel::http

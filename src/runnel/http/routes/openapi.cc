#include "runnel/http/routes/openapi.h"

#include <fmt/format.h>

#include <memory>
#include <utility>
#include <vector>

#include "kOpenApiJson.inc"
#include "runnel/protocol/wires.h"

namespace runnel::http {
namespace {

boost::asio::awaitable<api::Reply> show_openapi(std::shared_ptr<std::string const> document) {
  api::Response response = api::json_response(200, {});
  response.shared_body = std::move(document);
  co_return response;
}

// `text` with the string `placeholder` replaced by one string per name.
std::string with_names(std::string text, std::string_view placeholder,
                       std::vector<std::string_view> const& names) {
  return text.replace(text.find(placeholder), placeholder.size(),
                      fmt::format("{}", fmt::join(names, R"(", ")")));
}

}  // namespace

std::string_view openapi_part() {
  static std::string const part =
      with_names(with_names(std::string{kOpenApiJson}, "@dialects@", protocol::dialect_names()),
                 "@dialect_versions@", protocol::dialect_versions());
  return part;
}

void add_openapi_route(api::Router& router, std::string document) {
  router.add(api::Method::get, "/openapi.json", api::Access::open,
             [document = std::make_shared<std::string const>(std::move(document))](api::Request /*request*/) {
               return show_openapi(document);
             });
}

}  // namespace runnel::http

#include "runnel/http/openapi.h"

#include <string>

#include "openapi_json.inc"

namespace runnel::http {
namespace {

boost::asio::awaitable<Reply> show_openapi(Request /*request*/) {
  co_return json_response(200, std::string{kOpenApiJson});
}

}  // namespace

std::string_view openapi_document() {
  return kOpenApiJson;
}

std::shared_ptr<Contract const> openapi_contract() {
  static auto const contract = std::make_shared<Contract const>(kOpenApiJson);
  return contract;
}

void add_openapi_route(Router& router) {
  router.add(Method::get, "/openapi.json", Access::open, show_openapi);
}

}  // namespace runnel::http

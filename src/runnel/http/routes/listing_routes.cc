#include "runnel/http/routes/listing_routes.h"

#include <memory>
#include <utility>

#include "runnel/core/json/write.h"

namespace runnel::http {

namespace {

using SharedBody = std::shared_ptr<std::string const>;

void append_listed_stage(std::string& out, Listings::Stage const& stage) {
  JsonObject object{out};
  object.text("name", stage.name);
  append_json_array(object.key("tools"), stage.tools, append_json_string);
  if (stage.client_tools) object.boolean("clientTools", true);
  if (!stage.kind.empty()) object.text("kind", stage.kind);
  object.close();
}

void append_listed_flow(std::string& out, Listings::Flow const& flow) {
  JsonObject object{out};
  object.text("name", flow.name).text("description", flow.description).boolean("default", flow.is_default);
  append_json_array(object.key("stages"), flow.stages, append_listed_stage);
  object.close();
}

void append_listed_model(std::string& out, Listings::Model const& model) {
  JsonObject{out}
      .text("name", model.name)
      .boolean("pattern", model.is_pattern)
      .boolean("default", model.is_default)
      .close();
}

void append_listed_tool(std::string& out, Listings::Tool const& tool) {
  JsonObject{out}
      .text("name", tool.name)
      .text("description", tool.description)
      .raw("inputSchema", tool.input_schema.str())
      .close();
}

template <class Items, class AppendItem>
SharedBody listing_body(char const* name, Items const& items, AppendItem const& append_item) {
  std::string body;
  JsonObject object{body};
  append_json_array(object.key(name), items, append_item);
  object.close();
  return std::make_shared<std::string const>(std::move(body));
}

boost::asio::awaitable<api::Reply> show_listing(SharedBody body) {
  auto response = api::json_response(200, {});
  response.shared_body = std::move(body);
  co_return response;
}

void add_listing(api::Router& router, char const* path, SharedBody body) {
  router.add(api::Method::get, path, api::Access::user,
             [body = std::move(body)](api::Request /*request*/) { return show_listing(body); });
}

}  // namespace

void add_listing_routes(api::Router& router, Listings const& listings) {
  add_listing(router, "/api/v1/flows", listing_body("flows", listings.flows, append_listed_flow));
  add_listing(router, "/api/v1/models", listing_body("models", listings.models, append_listed_model));
  add_listing(router, "/api/v1/tools", listing_body("tools", listings.tools, append_listed_tool));
}

}  // namespace runnel::http

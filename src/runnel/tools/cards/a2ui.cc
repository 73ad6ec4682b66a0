#include "runnel/tools/cards/a2ui.h"

#include "runnel/core/json/write.h"

namespace runnel::tools {

namespace {

constexpr char kVersion[] = "v0.9";
constexpr char kCatalog[] = "https://a2ui.org/specification/v0_9/catalogs/basic/catalog.json";

// A component that shows a text of the data model. Only the variant "body" is Markdown.
void append_text(std::string& out, std::string_view id, std::string_view path, std::string_view variant) {
  JsonObject component{out};
  component.text("id", id).text("component", "Text");
  JsonObject{component.key("text")}.text("path", path).close();
  component.text("variant", variant).close();
}

// A column whose children are made from a list in the data model.
void append_list(std::string& out, std::string_view id, std::string_view path, std::string_view child) {
  JsonObject component{out};
  component.text("id", id).text("component", "Column");
  JsonObject{component.key("children")}.text("path", path).text("componentId", child).close();
  component.close();
}

// `children` is a JSON array.
void append_column(std::string& out, std::string_view id, std::string_view children) {
  JsonObject{out}.text("id", id).text("component", "Column").raw("children", children).close();
}

// What stands below the title: nothing, the items, the note, or both.
std::string body_of(Card const& card) {
  std::string children = R"(["title")";
  if (!card.items.empty()) children += R"(,"divider","items")";
  if (!card.note.empty()) children += R"(,"note")";
  return children + "]";
}

void append_items(std::string& out) {
  out += R"(,{"id":"divider","component":"Divider"},)";
  append_list(out, "items", "/items", "item");
  out += ',';
  append_column(out, "item", R"(["item-head","item-lines"])");
  out += R"(,{"id":"item-head","component":"Row","justify":"spaceBetween","align":"center",)"
         R"("children":["item-title","item-badge"]},)";
  append_text(out, "item-title", "title", "h5");
  out += ',';
  append_text(out, "item-badge", "badge", "caption");
  out += ',';
  append_list(out, "item-lines", "lines", "item-line");
  out += ',';
  append_text(out, "item-line", "text", "caption");
}

void append_components(std::string& out, Card const& card) {
  out += R"([{"id":"root","component":"Card","child":"body"},)";
  append_column(out, "body", body_of(card));
  out += ',';
  append_text(out, "title", "/title", "h4");
  if (!card.items.empty()) append_items(out);
  if (!card.note.empty()) {
    out += ',';
    append_text(out, "note", "/note", "caption");
  }
  out += ']';
}

void append_line(std::string& out, std::string const& line) {
  JsonObject{out}.text("text", line).close();
}

void append_item(std::string& out, CardItem const& item) {
  JsonObject object{out};
  object.text("title", item.title).text("badge", item.badge);
  append_json_array(object.key("lines"), item.lines, append_line);
  object.close();
}

void append_data(std::string& out, Card const& card) {
  JsonObject object{out};
  object.text("title", card.title);
  append_json_array(object.key("items"), card.items, append_item);
  object.text("note", card.note).close();
}

}  // namespace

std::string write_a2ui(Card const& card, std::string_view surface_id) {
  std::string out;
  JsonObject surface{out};
  surface.text("format", "a2ui").text("version", kVersion);
  auto& messages = surface.key("messages");

  messages += '[';
  JsonObject creates{messages};
  creates.text("version", kVersion);
  JsonObject{creates.key("createSurface")}.text("surfaceId", surface_id).text("catalogId", kCatalog).close();
  creates.close();

  messages += ',';
  JsonObject updates{messages};
  updates.text("version", kVersion);
  JsonObject components{updates.key("updateComponents")};
  components.text("surfaceId", surface_id);
  append_components(components.key("components"), card);
  components.close();
  updates.close();

  messages += ',';
  JsonObject fills{messages};
  fills.text("version", kVersion);
  JsonObject model{fills.key("updateDataModel")};
  model.text("surfaceId", surface_id).text("path", "/");
  append_data(model.key("value"), card);
  model.close();
  fills.close();
  messages += ']';

  surface.close();
  return out;
}

}  // namespace runnel::tools

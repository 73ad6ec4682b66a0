#include "runnel/tools/cards/cards.h"

#include <boost/json.hpp>

#include <algorithm>

#include "runnel/core/json/parse.h"
#include "runnel/tools/cards/a2ui.h"

namespace runnel::tools {

namespace json = boost::json;

namespace {

// The member, which is an object. Null if the text has no such member.
json::object const* object_in(std::optional<json::value> const& document, std::string_view name) {
  auto const* const object = document ? document->if_object() : nullptr;
  auto const* const member = object != nullptr ? object->if_contains(name) : nullptr;
  return member != nullptr ? member->if_object() : nullptr;
}

std::optional<json::value> parse(JsonText const& text) {
  auto parsed = parse_stored_json(text.str());
  if (!parsed) return std::nullopt;
  return std::move(*parsed);
}

}  // namespace

CardForm const* Cards::find(std::string const& method) const {
  auto const found =
      std::find_if(forms_.begin(), forms_.end(), [&](CardForm const& form) { return form.method == method; });
  return found == forms_.end() ? nullptr : &*found;
}

void Cards::put_on(ToolOutcome& outcome, std::string const& method, ToolJob const& job) const {
  auto const* const form = find(method);
  if (form == nullptr || outcome.status == ToolStatus::failure) return;
  auto const arguments = parse(job.args);
  auto const result = parse(outcome.result);
  auto const* const input = object_in(arguments, "input");
  auto const* const data = object_in(result, "data");
  if (input == nullptr || data == nullptr) return;
  auto const hints = form->hints({*input, *data});
  if (!hints) return;
  outcome.ui_hints = JsonText::parse(json::serialize(*hints)).value();
  outcome.card = JsonText::parse(write_a2ui(form->make(*hints, job.reader), job.id.text)).value();
}

}  // namespace runnel::tools

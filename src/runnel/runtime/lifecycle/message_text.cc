#include "runnel/runtime/lifecycle/message_text.h"

#include <boost/json.hpp>

namespace runnel::runtime {

std::variant<std::string, Refusal> content_text(boost::json::value const* content, std::string_view message) {
  if (content != nullptr && content->is_string()) return std::string{content->get_string()};
  if (content == nullptr || !content->is_array()) {
    return invalid_request(std::string{message} + " needs 'content': a string or a list of parts");
  }
  std::string text;
  for (auto const& part : content->get_array()) {
    auto const* object = part.if_object();
    auto const* type = object != nullptr ? object->if_contains("type") : nullptr;
    auto const* words = object != nullptr ? object->if_contains("text") : nullptr;
    if (type == nullptr || !type->is_string() || type->get_string() != "text" || words == nullptr ||
        !words->is_string()) {
      return invalid_request("only content parts of type 'text' are supported");
    }
    text += words->get_string();
  }
  return text;
}

}  // namespace runnel::runtime

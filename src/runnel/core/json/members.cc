#include "runnel/core/json/members.h"

#include <boost/json/value.hpp>

namespace runnel {

namespace json = boost::json;

std::string text_at(json::object const& object, std::string_view name) {
  auto const* const value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string{value->get_string()} : std::string{};
}

json::object const& object_at(json::object const& object, std::string_view name) {
  static json::object const none;
  auto const* const value = object.if_contains(name);
  return value != nullptr ? as_object(*value) : none;
}

json::array const& list_at(json::object const& object, std::string_view name) {
  static json::array const none;
  auto const* const value = object.if_contains(name);
  return value != nullptr && value->is_array() ? value->get_array() : none;
}

std::size_t count_at(json::object const& object, std::string_view name) {
  auto const* const value = object.if_contains(name);
  if (value != nullptr && value->is_uint64()) return value->get_uint64();
  bool const counts = value != nullptr && value->is_int64() && value->get_int64() > 0;
  return counts ? static_cast<std::size_t>(value->get_int64()) : 0;
}

json::object const& as_object(json::value const& value) {
  static json::object const none;
  return value.is_object() ? value.get_object() : none;
}

}  // namespace runnel

#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <cstdint>
#include <string>
#include <string_view>

// The members of an object that may be absent or of another type, as in what another version has stored.
namespace runnel {

// The text. Empty if there is none.
std::string text_at(boost::json::object const& object, std::string_view name);

// The object. Empty if there is none.
boost::json::object const& object_at(boost::json::object const& object, std::string_view name);

// The list. Empty if there is none.
boost::json::array const& list_at(boost::json::object const& object, std::string_view name);

// The whole number, which is not negative. 0 if there is none.
std::size_t count_at(boost::json::object const& object, std::string_view name);

// The object itself. Empty if the value is none.
boost::json::object const& as_object(boost::json::value const& value);

}  // namespace runnel

#pragma once

#include <boost/json/fwd.hpp>

#include <string>
#include <string_view>

// Writes data from users and models into prompts: one line of ASCII, as Python's dumps(ensure_ascii=True,
// separators=(",",":")) writes it, so that no value can leave its line.
namespace runnel::flow {

// `utf8` may hold any bytes; those that are not UTF-8 become U+FFFD.
void append_ascii_json_string(std::string& out, std::string_view utf8);

void append_ascii_json(std::string& out, boost::json::value const& value);
void append_ascii_json(std::string& out, boost::json::object const& object);

}  // namespace runnel::flow

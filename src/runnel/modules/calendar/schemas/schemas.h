#pragma once

#include <string>
#include <string_view>

// The JSON Schemas of the calendar. Each form is written once, in a .json file: the inputs of methods, with
// their batches, and the bodies of routes are made from it.
namespace runnel::modules::calendar {

std::string_view create_schema();
std::string_view update_schema();
std::string_view delete_schema();
std::string_view share_schema();

// The module's part of the OpenAPI document.
std::string_view openapi();

}  // namespace runnel::modules::calendar

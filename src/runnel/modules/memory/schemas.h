#pragma once

#include <string_view>

#include "runnel/base/schema/json_schema.h"
#include "runnel/modules/memory/kind.h"

// The fields of memories are described once, in update_input.json. Everything else is derived from it.
namespace runnel::modules::memory {

// The inputs of the methods.
std::string_view read_input();
std::string_view update_input();

// What a content of this kind must be: UserMemoryContent or WorkProfileContent.
base::JsonSchema const& content_schema(Kind kind);

// The module's part of the OpenAPI document: openapi.json with both contents.
std::string_view openapi_part();

}  // namespace runnel::modules::memory

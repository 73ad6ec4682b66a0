#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace runnel::api {

// The OpenAPI document of the whole server: what is common to all routes (openapi_common.json), and one part
// per feature. A part is a JSON object with `tags`, `paths` and `components`; it may refer to the components
// of the common part. Throws std::logic_error if two parts define the same path or component, or if a part
// has any other key.
std::string assemble_openapi(std::vector<std::string_view> const& parts);

}  // namespace runnel::api

#pragma once

#include <boost/json/object.hpp>

#include <cstddef>
#include <variant>
#include <vector>

#include "runnel/base/schema/json_schema.h"

// What a memory holds: UserMemoryContent or WorkProfileContent. Their fields are in update_input.json, and
// nothing here names one that has no rule of its own. Any thread may call.
namespace runnel::modules::memory {

inline constexpr std::size_t kMostItems = 50;                             // In a list.
inline constexpr std::size_t kMostContentBytes = std::size_t{16} * 1024;  // Of the whole content, as JSON.

enum class Mode { merge, replace };

// What a schema cannot judge about a content: texts in lists and names must not be blank, dates and time
// zones must exist, and working hours have a start and an end or neither.
std::vector<base::Violation> check_content(boost::json::object const& content);

using Updated = std::variant<boost::json::object, base::Violation>;

// What a memory holds after an update, or which limit that would exceed. `sent` is valid by its schema and by
// check_content(). Texts lose the white space at their ends.
//
// merge: a text or object replaces the one before. A list gets what is not yet in it: texts are the same
// whatever their case, and objects if their names are; an object replaces the one of its name. A field that
// is sent empty is removed, and one that is not sent stays. replace: only what is sent, without what is
// empty.
Updated update(boost::json::object stored, boost::json::object const& sent, Mode mode);

}  // namespace runnel::modules::memory

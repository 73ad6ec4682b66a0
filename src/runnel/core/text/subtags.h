#pragma once

#include <string_view>

// IANA's registry of language subtags, as far as ICU's data contains it.
namespace runnel {

enum class SubtagKind { language, script, region, variant };

// Whether `subtag`, in lower case, is registered or in a range for private use. ICU's data is older than the
// registry and lacks the newest subtags. It is read on the first call. Any thread may call.
bool is_registered(SubtagKind kind, std::string_view subtag);

}  // namespace runnel

#pragma once

#include <string_view>

// IANA's registry of language subtags, as ICU's data has it.
namespace runnel {

enum class SubtagKind { language, script, region, variant };

// Whether `subtag`, in lower case, is registered or in a range for private use. ICU's data is older than the
// registry: the newest subtags are unknown to it. It is read when first asked; any thread may ask.
bool is_registered(SubtagKind kind, std::string_view subtag);

}  // namespace runnel

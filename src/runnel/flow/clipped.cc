#include "runnel/flow/clipped.h"

#include "runnel/core/text/text.h"

namespace runnel::flow {

std::string clipped(std::string_view text, std::size_t longest) {
  if (text.size() <= longest) return to_valid_utf8(text);
  auto end = longest;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U)
    --end;
  return to_valid_utf8(text.substr(0, end)) + "…";
}

}  // namespace runnel::flow

#include "runnel/core/ids.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <stdexcept>

namespace runnel {

bool is_usable_id(std::string const& text) {
  return !text.empty() && text.size() <= kMaxIdLength &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
}

// The time comes first, so that rows that are written together are close together in an index.
RunId base_of_alias(RunId const& id) {
  auto const mark = id.text.rfind('~');
  if (mark == std::string::npos || mark == 0 || mark + 1 == id.text.size()) return {};
  bool const digits = std::all_of(id.text.begin() + static_cast<std::ptrdiff_t>(mark) + 1, id.text.end(),
                                  [](char c) { return c >= '0' && c <= '9'; });
  return digits ? RunId{id.text.substr(0, mark)} : RunId{};
}

std::string mint_uuid() {
  std::array<unsigned char, 16> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw std::runtime_error("the system gives no random bytes");
  }
  using namespace std::chrono;
  auto const now = duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
  for (std::size_t i = 0; i < 6; ++i)
    bytes[i] = static_cast<unsigned char>(static_cast<std::uint64_t>(now) >> (40U - 8U * i));
  bytes[6] = static_cast<unsigned char>((bytes[6] & 0x0fU) | 0x70U);
  bytes[8] = static_cast<unsigned char>((bytes[8] & 0x3fU) | 0x80U);

  constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  out.reserve(36);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) out += '-';
    out += kHex[bytes[i] >> 4U];
    out += kHex[bytes[i] & 0xfU];
  }
  return out;
}

}  // namespace runnel

#include "runnel/core/text/surrogates.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "runnel/core/text/text.h"

namespace runnel {
namespace {

constexpr std::size_t kEscape = 6;  // \ud83d
constexpr std::size_t kHalf = 3;    // Bytes.

bool is_high(std::uint32_t unit) {
  return unit >= 0xd800 && unit <= 0xdbff;
}

bool is_low(std::uint32_t unit) {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

// The code unit of the escape that begins at `at`. Empty if there is none.
std::optional<std::uint32_t> escaped_unit(std::string_view json, std::size_t at) {
  if (json.size() < at + kEscape || json[at] != '\\' || json[at + 1] != 'u') return std::nullopt;
  std::uint32_t unit = 0;
  auto const* const end = json.data() + at + kEscape;
  auto const [stopped, problem] = std::from_chars(json.data() + at + 2, end, unit, 16);
  if (problem != std::errc{} || stopped != end) return std::nullopt;
  return unit;
}

void append_half(std::string& out, std::uint32_t unit) {
  out += static_cast<char>(0xe0U | (unit >> 12U));
  out += static_cast<char>(0x80U | ((unit >> 6U) & 0x3fU));
  out += static_cast<char>(0x80U | (unit & 0x3fU));
}

// The half whose bytes begin at `at`. Empty if there is none.
std::optional<std::uint32_t> half_at(std::string_view text, std::size_t at) {
  if (text.size() < at + kHalf || text[at] != '\xED') return std::nullopt;
  auto const second = static_cast<unsigned char>(text[at + 1]);
  auto const third = static_cast<unsigned char>(text[at + 2]);
  if (second < 0xa0 || second > 0xbf || third < 0x80 || third > 0xbf) return std::nullopt;
  return 0xd000U | ((second & 0x3fU) << 6U) | (third & 0x3fU);
}

void append_pair(std::string& out, std::uint32_t high, std::uint32_t low) {
  auto const point = 0x10000U + ((high - 0xd800U) << 10U) + (low - 0xdc00U);
  out += static_cast<char>(0xf0U | (point >> 18U));
  out += static_cast<char>(0x80U | ((point >> 12U) & 0x3fU));
  out += static_cast<char>(0x80U | ((point >> 6U) & 0x3fU));
  out += static_cast<char>(0x80U | (point & 0x3fU));
}

}  // namespace

std::string mend_surrogates(std::string_view json, LoneHalf lone) {
  std::string out;
  out.reserve(json.size());
  for (std::size_t at = 0; at < json.size();) {
    auto const backslash = std::min(json.find('\\', at), json.size());
    out.append(json, at, backslash - at);
    at = backslash;
    if (at == json.size()) break;
    auto const unit = escaped_unit(json, at);
    bool const half = unit && (is_high(*unit) || is_low(*unit));
    auto const next = half ? escaped_unit(json, at + kEscape) : std::nullopt;
    if (half && is_high(*unit) && next && is_low(*next)) {
      out.append(json, at, 2 * kEscape);
      at += 2 * kEscape;
    } else if (half) {
      lone == LoneHalf::replaced ? void(out += "\\ufffd") : append_half(out, *unit);
      at += kEscape;
    } else {
      out.append(json, at, 2);  // A backslash and the character that it escapes, which may be a backslash.
      at += 2;
    }
  }
  return out;
}

void HalfJoiner::join(std::string& piece) {
  if (piece.empty() || (held_.empty() && piece.find('\xED') == std::string::npos)) return;
  auto const text = std::exchange(held_, {}) + piece;
  piece.clear();
  for (std::size_t at = 0; at < text.size();) {
    auto const half = half_at(text, at);
    auto const next = half ? half_at(text, at + kHalf) : std::nullopt;
    if (!half) {
      piece += text[at++];
    } else if (is_high(*half) && next && is_low(*next)) {
      append_pair(piece, *half, *next);
      at += 2 * kHalf;
    } else if (is_high(*half) && at + kHalf == text.size()) {
      held_ = text.substr(at);
      at += kHalf;
    } else {
      piece += kReplacement;
      at += kHalf;
    }
  }
}

std::string HalfJoiner::finish() {
  return std::exchange(held_, {}).empty() ? std::string{} : std::string{kReplacement};
}

}  // namespace runnel

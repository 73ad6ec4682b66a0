#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace runnel {

// The length in bytes of the UTF-8 sequence that begins at `at`; 0 where the bytes are no valid sequence
// (overlong forms, surrogates and code points above U+10FFFF are invalid).
std::size_t utf8_sequence(std::string_view text, std::size_t at);

bool is_utf8(std::string_view text);

// Every byte that belongs to no valid sequence becomes U+FFFD.
std::string to_valid_utf8(std::string_view text);

std::size_t count_code_points(std::string_view valid_utf8);

// The title of a thread from its first user message (RUN-7).
std::string title_from(std::string_view message);

// SHA-256 in lower-case hexadecimal.
std::string sha256_hex(std::string_view bytes);

}  // namespace runnel

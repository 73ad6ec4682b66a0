#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace runnel {

// U+FFFD, which stands where a text was not valid.
inline constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// The length in bytes of the UTF-8 sequence that begins at `at`, or 0 if there is no valid sequence (overlong
// forms, surrogates and code points above U+10FFFF are invalid).
std::size_t utf8_sequence(std::string_view text, std::size_t at);

// The code point of that sequence, or U+FFFD if there is none.
char32_t code_point_at(std::string_view text, std::size_t at);

bool is_utf8(std::string_view text);

// Every byte that belongs to no valid sequence becomes U+FFFD.
std::string to_valid_utf8(std::string_view text);

std::size_t count_code_points(std::string_view valid_utf8);

// Whether `text` has nothing but white space. It stops at the first other character.
bool is_blank(std::string_view text);

// `text` without the white space at its ends, like Python's strip().
std::string_view strip(std::string_view text);

// The first `count` code points; a byte that belongs to no sequence counts as one.
std::string_view first_code_points(std::string_view text, std::size_t count);

// `text` with one space for each Unicode line break (CR LF counts as one), and otherwise as to_valid_utf8
// returns it.
std::string to_one_line(std::string_view text);

// The title of a thread from its first user message (RUN-7).
std::string title_from(std::string_view message);

// Ignores the case of ASCII letters only, which suffices for header names and tokens.
bool equal_ignoring_case(std::string_view a, std::string_view b);

}  // namespace runnel

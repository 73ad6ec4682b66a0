#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

// How contacts are found: by the beginnings of words, whatever their case and width. Any thread may call.
namespace runnel::modules::contacts {

// A contact has at most this many terms. Those of its name come first.
inline constexpr std::size_t kMostTerms = 64;
// A query has at most this many words.
inline constexpr std::size_t kMostQueryWords = 8;

// The text in its compatibility form (NFKC) with its case folded: "ＷＡＮＧ" and "wang" are the same.
std::string fold(std::string_view text);

// What a contact with this text can be found by: each word of the folded text and, in scripts that put no
// space between words, also the rest of the word from each character on: 王伟 is found by 王 and by 伟. A
// word is letters, digits and marks. A term has at most 32 characters.
std::vector<std::string> terms_of(std::string_view text);

// The same for a telephone number. Its digits count as one word, whatever stands between them, and each end
// of it with at least four digits is a term: so a number is found with or without its prefix.
std::vector<std::string> phone_terms(std::string_view phone);

// The words of a query, folded, each once, the longest first. A contact is found if each of them begins one
// of its terms.
std::vector<std::string> query_words(std::string_view query);

}  // namespace runnel::modules::contacts

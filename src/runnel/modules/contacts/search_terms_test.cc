#include "runnel/modules/contacts/search_terms.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace runnel::modules::contacts {
namespace {

using Terms = std::vector<std::string>;

TEST(ContactSearchTerms, TOOL_12_CaseAndWidthAreFolded) {
  EXPECT_EQ(fold("ＷＡＮＧ Wei"), "wang wei");
  EXPECT_EQ(fold("ﾜﾝ"), "ワン");
  EXPECT_EQ(fold("Straße"), "strasse");
  EXPECT_EQ(fold("①㍿"), "1株式会社");
  EXPECT_EQ(fold(""), "");
}

TEST(ContactSearchTerms, TOOL_12_OneCharacterCanBecomeMany) {
  std::string text;
  std::string folded;
  for (int i = 0; i < 100; ++i) {
    text += "\uFDFA";  // It becomes eighteen characters, among them spaces.
    folded += fold("\uFDFA");
  }

  EXPECT_EQ(fold(text), folded);
}

TEST(ContactSearchTerms, TOOL_12_BytesThatAreNoTextAreReplaced) {
  EXPECT_EQ(fold("a\xFFz"), "a\uFFFDz");
}

TEST(ContactSearchTerms, TOOL_12_EachWordIsATerm) {
  EXPECT_EQ(terms_of("Wang  Wei-Ling (HR)"), (Terms{"wang", "wei", "ling", "hr"}));
  EXPECT_EQ(terms_of("wei.wang@example.com"), (Terms{"wei", "wang", "example", "com"}));
  EXPECT_EQ(terms_of(" ¡! "), Terms{});
}

TEST(ContactSearchTerms, TOOL_12_ScriptsWithoutSpacesHaveATermFromEachCharacter) {
  EXPECT_EQ(terms_of("王伟"), (Terms{"王伟", "伟"}));
  EXPECT_EQ(terms_of("王伟Wei 3号"), (Terms{"王伟wei", "伟wei", "wei", "3号", "号"}));
  EXPECT_EQ(terms_of("김민수"), (Terms{"김민수", "민수", "수"}));
}

TEST(ContactSearchTerms, TOOL_12_MarksBelongToTheirLetter) {
  EXPECT_EQ(terms_of("e\u0308l"), (Terms{"ël"}));
  EXPECT_EQ(terms_of("नमस्ते"), (Terms{"नमस्ते"}));
}

TEST(ContactSearchTerms, TOOL_12_TermsHaveABound) {
  EXPECT_EQ(terms_of(std::string(100, 'x')), Terms{std::string(32, 'x')});
  EXPECT_EQ(query_words(std::string(100, 'x')), Terms{std::string(32, 'x')});
}

TEST(ContactSearchTerms, TOOL_12_TelephoneNumbersAreFoundWithoutTheirPrefix) {
  EXPECT_EQ(phone_terms("+86 13-80"), (Terms{"86", "13", "80", "861380", "61380", "1380"}));
  EXPECT_EQ(phone_terms("１１０"), (Terms{"110", "110"}));
  EXPECT_EQ(phone_terms(""), Terms{});
}

TEST(ContactSearchTerms, TOOL_12_QueryHasItsWordsOnceTheLongestFirst) {
  EXPECT_EQ(query_words("wei WANG wei ＷＥＩ"), (Terms{"wang", "wei"}));
  EXPECT_EQ(query_words("王伟"), Terms{"王伟"});
  EXPECT_EQ(query_words("?!"), Terms{});
}

}  // namespace
}  // namespace runnel::modules::contacts

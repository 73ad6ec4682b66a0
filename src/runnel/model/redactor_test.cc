#include "runnel/model/redactor.h"

#include <gtest/gtest.h>

#include "runnel/core/text/text.h"

namespace runnel::model {
namespace {

Redactor const kRedact{Secret{"dk-4f9c1a7788aa55e1b2c3"}};

TEST(Redactor, USE_1_KeyIsNotShown) {
  EXPECT_EQ(kRedact("bad key dk-4f9c1a7788aa55e1b2c3."), "bad key [redacted].");
  EXPECT_EQ(kRedact("\"dk-4f9c1a7788aa55e1b2c3\","), "\"[redacted]\",");
  EXPECT_EQ(kRedact("key=dk-4f9c1a7788aa55e1b2c3&x"), "key=[redacted]&x");
}

TEST(Redactor, USE_1_PartOfTheKeyIsNotShown) {
  EXPECT_EQ(kRedact("you sent ****7788aa55e1"), "you sent [redacted]");
  EXPECT_EQ(kRedact("ends in e1b2c3"), "ends in e1b2c3");
}

TEST(Redactor, USE_1_WhatLooksLikeAKeyIsNotShown) {
  EXPECT_EQ(kRedact("Authorization: Bearer abc"), "Authorization: Bearer [redacted]");
  EXPECT_EQ(kRedact("authorization:bearer abc def"), "authorization:bearer [redacted] def");
  EXPECT_EQ(kRedact("Incorrect API key provided: sk-ab***xyz."), "Incorrect API key provided: [redacted]");
  EXPECT_EQ(kRedact("the task-queue is full"), "the task-queue is full");
}

TEST(Redactor, USE_1_OneLineOfAtMost300Characters) {
  EXPECT_EQ(kRedact("a\r\n\tb"), "a b");
  auto const shortened = kRedact(std::string(1000, 'x'));
  EXPECT_EQ(count_code_points(shortened), 301U);
  EXPECT_TRUE(is_utf8(kRedact("\xFF\xC3")));
  EXPECT_EQ(kRedact(std::string(298, ' ') + "dk-4f9c1a7788aa55e1b2c3").find("dk-"), std::string::npos);
}

TEST(Redactor, WithoutAKeyTextStays) {
  EXPECT_EQ(Redactor{Secret{}}("plain text"), "plain text");
}

}  // namespace
}  // namespace runnel::model

#include "runnel/runtime/lifecycle/resume_input.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "runnel/core/json/parse.h"
#include "runnel/runtime/lifecycle/run_input.h"

namespace runnel::runtime {
namespace {

std::variant<RunInput, Refusal> input_with(std::string const& resume, std::string const& more = "") {
  return parse_run_input(
      std::get<0>(parse_json(R"({"threadId":"t","messages":[],)" + more + R"("resume":)" + resume + "}")));
}

ResumeAnswer accepted_answer(std::string const& resume) {
  auto const input = input_with(resume);
  auto const* const refusal = std::get_if<Refusal>(&input);
  EXPECT_EQ(refusal, nullptr) << (refusal != nullptr ? refusal->message : "");
  return refusal != nullptr ? ResumeAnswer{} : std::get<RunInput>(input).resume.value_or(ResumeAnswer{});
}

std::string problem_of(std::string const& resume) {
  auto const input = input_with(resume);
  auto const* const refusal = std::get_if<Refusal>(&input);
  if (refusal == nullptr) return "accepted";
  EXPECT_EQ(refusal->kind, Refusal::Kind::invalid);
  EXPECT_EQ(refusal->code, "INVALID_REQUEST");
  return refusal->message;
}

// An entry with these members beside its id.
std::string one_entry(std::string const& members) {
  return R"([{"interruptId":"approval_c1",)" + members + "}]";
}

TEST(ResumeInput, AGUI_4_AResolvedInterruptSaysWhetherTheCallIsApproved) {
  auto const approved = accepted_answer(one_entry(R"("status":"resolved","payload":{"approved":true})"));
  EXPECT_EQ(approved.interrupt, "approval_c1");
  EXPECT_TRUE(approved.approved);
  EXPECT_EQ(approved.reason, "");

  auto const refused = accepted_answer(one_entry(
      R"("status":"resolved","payload":{"approved":false,"reason":"not today"},"metadata":{"a":1})"));
  EXPECT_FALSE(refused.approved);
  EXPECT_EQ(refused.reason, "not today");
}

TEST(ResumeInput, AGUI_4_ACancelledInterruptIsARefusal) {
  for (auto const* const members :
       {R"("status":"cancelled")", R"("status":"cancelled","payload":null)",
        R"("status":"cancelled","payload":{})", R"("status":"cancelled","payload":{"approved":false})"}) {
    EXPECT_FALSE(accepted_answer(one_entry(members)).approved) << members;
  }
  EXPECT_EQ(accepted_answer(one_entry(R"("status":"cancelled","payload":{"reason":"no"})")).reason, "no");
}

TEST(ResumeInput, AGUI_4_AnEmptyListIsAsNone) {
  for (auto const* const none : {"[]", "null"}) {
    EXPECT_EQ(problem_of(none), "'messages' has no message with role 'user'") << none;
  }
  auto const asks = parse_run_input(
      std::get<0>(parse_json(R"({"resume":[],"messages":[{"role":"user","content":"hello"}]})")));
  EXPECT_EQ(std::get<RunInput>(asks).text, "hello");
  EXPECT_FALSE(std::get<RunInput>(asks).resume);
}

// Stock clients send the whole history with every run, and what they keep may be nothing that could be asked.
TEST(ResumeInput, AGUI_4_TheMessagesBesideAnAnswerAreNotLookedAt) {
  auto const input = parse_run_input(std::get<0>(parse_json(
      R"({"threadId":"t","runId":"r2","messages":[{"role":"user","content":[{"type":"image"}]}],
          "resume":[{"interruptId":"approval_c1","status":"cancelled"}],"forwardedProps":{"flow":"chat"}})")));
  ASSERT_TRUE(std::holds_alternative<RunInput>(input));
  EXPECT_EQ(std::get<RunInput>(input).text, "");
  EXPECT_EQ(std::get<RunInput>(input).run, RunId{"r2"});
}

TEST(ResumeInput, AGUI_4_WhatIsWrongIsNamed) {
  EXPECT_EQ(problem_of("7"), "'resume' must be a list");
  EXPECT_EQ(problem_of("[7]"), "each entry of 'resume' must be an object");
  EXPECT_EQ(problem_of(R"([{"status":"cancelled"}])"),
            "'resume[0].interruptId' must be the id of the interrupt that waits, as its stream shows it");
  EXPECT_EQ(problem_of(R"([{"interruptId":"a b","status":"cancelled"}])"),
            "'resume[0].interruptId' must be the id of the interrupt that waits, as its stream shows it");
  for (auto const* const status : {R"("status":"done")", R"("status":7)", R"("metadata":{})"}) {
    EXPECT_EQ(problem_of(one_entry(status)), "'resume[0].status' must be 'resolved' or 'cancelled'")
        << status;
  }
  EXPECT_EQ(problem_of(one_entry(R"("status":"cancelled","metadata":[])")),
            "'resume[0].metadata' must be an object");
  EXPECT_EQ(
      problem_of(R"([{"interruptId":"a","status":"cancelled"},{"interruptId":"b","status":"cancelled"}])"),
      "'resume' has 2 entries; a thread waits for one answer at a time, so send one entry");
}

TEST(ResumeInput, AGUI_4_AWrongPayloadIsRefused) {
  for (auto const* const payload :
       {R"("metadata":{})", R"("payload":null)", R"("payload":true)", R"("payload":[])"}) {
    EXPECT_EQ(
        problem_of(one_entry(R"("status":"resolved",)" + std::string{payload})),
        "'resume[0].payload' must be an object such as {\"approved\":true}, with a 'reason' if you like");
  }
  for (auto const* const payload :
       {"{}", R"({"approved":"yes"})", R"({"approved":null})", R"({"reason":"no"})"}) {
    EXPECT_EQ(problem_of(one_entry(R"("status":"resolved","payload":)" + std::string{payload})),
              "'resume[0].payload.approved' must be true or false");
  }
  EXPECT_EQ(problem_of(one_entry(R"("status":"cancelled","payload":{"approved":true})")),
            "'resume[0]' is cancelled and approved: send the status 'resolved' to approve the call");
  EXPECT_EQ(problem_of(one_entry(R"("status":"resolved","payload":{"approved":true,"reason":7})")),
            "'resume[0].payload.reason' must be a string");
  EXPECT_EQ(
      problem_of(one_entry(R"("status":"resolved","payload":{"approved":true,"editedArgs":{}})")),
      "'resume[0].payload' has a key other than 'approved' and 'reason'; the call is made with the arguments "
      "that were shown, or not at all");
  auto const reason = [](std::size_t length) {
    return one_entry(R"("status":"cancelled","payload":{"reason":")" + std::string(length, 'x') + R"("})");
  };
  EXPECT_EQ(accepted_answer(reason(1000)).reason.size(), 1000U);
  EXPECT_EQ(problem_of(reason(1001)), "'resume[0].payload.reason' must have at most 1000 characters");
}

TEST(ResumeInput, AGUI_4_AnAnswerNeedsItsThread) {
  auto const input = parse_run_input(std::get<0>(
      parse_json(R"({"messages":[],"resume":[{"interruptId":"approval_c1","status":"cancelled"}]})")));
  ASSERT_TRUE(std::holds_alternative<Refusal>(input));
  EXPECT_EQ(std::get<Refusal>(input).message, "'resume' needs the 'threadId' of the thread whose run waits");
}

}  // namespace
}  // namespace runnel::runtime

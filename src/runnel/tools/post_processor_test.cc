#include "runnel/tools/post_processor.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace runnel::tools {
namespace {

namespace json = boost::json;
using End = base::ChildOutcome::End;

CalledMethod const kCreate{"calendar", "create"};

base::ChildOutcome ended(std::string output, int code = 0, End end = End::exited) {
  base::ChildOutcome out;
  out.end = end;
  out.code = code;
  out.output = std::move(output);
  return out;
}

std::string code_of(ToolOutcome const& outcome) {
  EXPECT_EQ(outcome.status, ToolStatus::failure);
  EXPECT_EQ(outcome.error, outcome.result);
  return std::string{json::parse(outcome.result.str()).at("error").at("code").as_string()};
}

std::string failure_of(base::ChildOutcome const& child) {
  return code_of(read_output(kCreate, child).outcome);
}

TEST(PostProcessor, TOOL_7_SuccessIsLabelledDataAndNothingElse) {
  auto const outcome =
      read_output(kCreate, ended("{\"ok\":true,\"module\":\"calendar\",\"method\":\"create\","
                                 "\"data\":{\"event_id\":\"e1\"},\"debug\":\"secret\"}\n"))
          .outcome;

  EXPECT_EQ(outcome.status, ToolStatus::success);
  EXPECT_EQ(outcome.result.str(),
            R"({"status":"success","module":"calendar","method":"create","data":{"event_id":"e1"}})");
  EXPECT_FALSE(outcome.error);
}

TEST(PostProcessor, TOOL_7_PartialBatchIsLabelledSo) {
  std::string const data = R"({"items":[{"n":1.50}],"count":2,"failed":1})";
  for (auto const* const head :
       {R"({"ok":true,"partial":true,"module":"calendar","method":"create","data":)",
        R"({"module":"calendar","method":"create","partial":true, "ok":true,"data":)"}) {
    auto const answer = read_output(kCreate, ended(head + data + "}\n"));
    EXPECT_TRUE(answer.answered);
    EXPECT_EQ(answer.outcome.status, ToolStatus::partial);
    EXPECT_TRUE(answer.outcome.result.str().starts_with(
        R"({"status":"partial","module":"calendar","method":"create","data":{"items")"))
        << answer.outcome.result.str();
  }
  EXPECT_EQ(failure_of(ended(R"({"ok":true,"partial":1,"module":"calendar","method":"create","data":{}})")),
            "INVALID_OUTPUT");
}

TEST(PostProcessor, TOOL_7_FailureIsTheErrorAsTheToolGaveIt) {
  auto const outcome =
      read_output(kCreate,
                  ended(R"({"ok":false,"module":"calendar","method":"create","error":{"code":"NOT_FOUND",)"
                        R"("message":"no such event","hint":[1]}})",
                        1))
          .outcome;

  EXPECT_EQ(outcome.result.str(),
            R"({"status":"failure","error":{"code":"NOT_FOUND","message":"no such event","hint":[1]}})");
  EXPECT_EQ(outcome.error, outcome.result);
  EXPECT_EQ(outcome.summary, "NOT_FOUND");
  EXPECT_EQ(error_of(outcome), R"({"code":"NOT_FOUND","message":"no such event","hint":[1]})");
}

TEST(PostProcessor, TOOL_5_EverythingElseIsAFailure) {
  std::string const good = R"({"ok":true,"module":"calendar","method":"create","data":{}})";
  for (std::string const& output :
       {std::string{}, std::string{"ok"}, good + good, good + "x", "log line\n" + good, std::string{"[]"},
        std::string{R"({"ok":1,"module":"calendar","method":"create","data":{}})"},
        std::string{R"({"ok":true,"module":"calendar","method":"read","data":{}})"},
        std::string{R"({"ok":true,"module":"contacts","method":"create","data":{}})"},
        std::string{R"({"ok":true,"module":"calendar","method":"create"})"},
        std::string{R"({"ok":true,"module":"calendar","method":"create","data":[]})"},
        std::string{R"({"ok":false,"module":"calendar","method":"create"})"},
        std::string{R"({"ok":false,"module":"calendar","method":"create","error":"no"})"},
        std::string{R"({"ok":false,"module":"calendar","method":"create","error":{"code":"NO"}})"},
        std::string{
            R"({"ok":false,"module":"calendar","method":"create","error":{"code":"n o","message":"m"}})"},
        std::string{"\xff\xfe"}, std::string(5, '\0')}) {
    EXPECT_EQ(failure_of(ended(output)), "INVALID_OUTPUT") << output;
  }
}

TEST(PostProcessor, TOOL_5_DeepErrorsAreNoBug) {
  for (std::size_t const depth : {30U, 40U, 63U, 100U}) {
    auto const deep = std::string(depth, '[') + std::string(depth, ']');
    auto const outcome =
        read_output(kCreate,
                    ended(R"({"ok":false,"module":"calendar","method":"create","error":{"code":"DEEP",)"
                          R"("message":"m","more":)" +
                          deep + "}}"))
            .outcome;
    EXPECT_EQ(outcome.status, ToolStatus::failure) << depth;
    EXPECT_FALSE(outcome.summary.empty()) << depth;
    EXPECT_TRUE(error_of(outcome).starts_with(R"({"code":)")) << depth;
  }
}

TEST(PostProcessor, TOOL_10_EachWayToFailHasItsCode) {
  EXPECT_EQ(failure_of(ended("", 0, End::timed_out)), "TOOL_TIMEOUT");
  EXPECT_EQ(failure_of(ended("{\"ok\":true", 0, End::output_too_large)), "OUTPUT_TOO_LARGE");
  EXPECT_EQ(failure_of(ended("", 11, End::signaled)), "TOOL_CRASHED");
  EXPECT_EQ(failure_of(ended("", 3)), "TOOL_CRASHED");
}

TEST(PostProcessor, TOOL_10_OnlyTheSandboxSaysThatNothingWasStarted) {
  for (int const code : {125, 126}) {
    auto child = ended("", code);
    EXPECT_EQ(failure_of(child), "TOOL_CRASHED") << code;
    child.errors = "runnel_sandbox: no such file\n";
    EXPECT_EQ(failure_of(child), "TOOL_NOT_STARTED") << code;
  }
}

TEST(PostProcessor, TOOL_6_DataOfProjectCliKeepTheirNumbers) {
  std::string const data = R"({"n":1.50,"e":[1e2,0.1]})";
  auto const printed = R"({"ok":true,"module":"calendar","method":"create","data":)" + data + "}\n";

  EXPECT_EQ(read_output(kCreate, ended(printed)).outcome.result.str(),
            R"({"status":"success","module":"calendar","method":"create","data":)" + data + "}");
}

TEST(PostProcessor, TOOL_5_AnAnswerIsASuccessOrAFailureOfTheRightForm) {
  EXPECT_TRUE(
      read_output(
          kCreate,
          ended(R"({"ok":false,"module":"calendar","method":"create","error":{"code":"A","message":"b"}})"))
          .answered);
  for (auto const* const output :
       {"", "debugging", R"({"ok":true})",
        R"({"ok":false,"module":"calendar","method":"create","error":{"code":"A"}})"}) {
    EXPECT_FALSE(read_output(kCreate, ended(output)).answered) << output;
  }
}

TEST(PostProcessor, TOOL_7_RowKeepsTheWholeOutcome) {
  auto const outcome = read_output(kCreate, ended("nonsense")).outcome;
  auto const args = JsonText::parse(R"({"module":"calendar"})").value();

  auto const kept = json::parse(tool_agent_output("project_cli", ToolCallId{"call_1"}, args, outcome));

  EXPECT_EQ(kept.at("tool_name"), "project_cli");
  EXPECT_EQ(kept.at("tool_call_id"), "call_1");
  EXPECT_EQ(kept.at("tool_call_args").at("module"), "calendar");
  EXPECT_EQ(kept.at("status"), "failure");
  EXPECT_EQ(kept.at("result"), kept.at("error"));
  EXPECT_TRUE(kept.at("ui_hints").is_null());
}

}  // namespace
}  // namespace runnel::tools

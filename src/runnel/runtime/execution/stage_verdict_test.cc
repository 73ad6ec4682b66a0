#include "runnel/runtime/execution/stage_verdict.h"

#include <gtest/gtest.h>

#include "runnel/runtime/testing/run_flow_case.h"

namespace runnel::runtime {
namespace {

using Kind = StageVerdict::Kind;
using model::Finish;

ModelReply reply(std::string output, Finish finish = Finish::stop, std::string shown = {}) {
  ModelReply out;
  out.output = std::move(output);
  out.finish = finish;
  out.shown = std::move(shown);
  return out;
}

struct Case {
  char const* what;
  flow::Stage stage;
  ModelReply reply;
  Kind kind;
  Fault fault = Fault::contract;
};

flow::Stage worker() {
  return worker_stage("intent", "NEEDS");
}

flow::Stage silent_stage() {
  auto stage = prose_stage("notes");
  stage.answer.reset();
  return stage;
}

TEST(StageVerdict, V2_6_AnAnswerNeedsWords) {
  std::vector<Case> const cases{
      {"words", prose_stage("chat"), reply("Hi"), Kind::good},
      {"nothing", prose_stage("chat"), reply(""), Kind::rejected, Fault::empty},
      {"blanks", prose_stage("chat"), reply(" \n\u3000\u00a0"), Kind::rejected, Fault::empty},
      {"nothing, cut", prose_stage("chat"), reply("", Finish::length), Kind::rejected, Fault::cut},
      {"words, cut", prose_stage("chat"), reply("Half", Finish::length), Kind::good},
      {"nothing of a stage that does not answer", silent_stage(), reply(""), Kind::good},
      {"an object", worker(), reply(kDone), Kind::good},
      {"an object, cut after it", worker(), reply(kDone, Finish::length), Kind::good},
      {"prose that is allowed", worker(), reply("Done."), Kind::good},
      {"nothing under a contract", worker(), reply(" "), Kind::rejected, Fault::empty},
      {"no word in the text", worker(), reply(R"({"status":"SUCCESS","answer":"\u3000 "})"), Kind::rejected,
       Fault::empty},
      {"a broken contract", worker(), reply(R"({"status":"DONE","answer":"x"})"), Kind::rejected},
      {"cut before the text", worker(), reply(R"({"status":"SUCC)", Finish::length), Kind::rejected,
       Fault::cut},
      {"cut in the text", worker(), reply(R"({"status":"SUCCESS","answer":"Ha)", Finish::length, "Ha"),
       Kind::partial},
      {"broken off in the text, not for length", worker(),
       reply(R"({"status":"SUCCESS","answer":"Ha)", Finish::stop, "Ha"), Kind::rejected},
      {"nothing of a router", intent_stage(), reply(""), Kind::rejected, Fault::empty},
      {"a route to another stage needs no text", intent_stage(), reply(kNeeds), Kind::good},
  };
  for (auto const& row : cases) {
    auto const verdict = judge_output(row.stage, row.reply, false);
    EXPECT_EQ(verdict.kind, row.kind) << row.what;
    if (row.kind == Kind::rejected) {
      EXPECT_EQ(to_string(verdict.fault), std::string{to_string(row.fault)}) << row.what;
      EXPECT_FALSE(verdict.problems.empty()) << row.what;
    }
  }
}

TEST(StageVerdict, V2_6_TheLastOutputNamesTheCode) {
  EXPECT_EQ(explain_rejection(worker(), Fault::contract).code, "CONTRACT_VIOLATION");
  EXPECT_EQ(explain_rejection(worker(), Fault::empty).code, "MODEL_EMPTY_ANSWER");
  EXPECT_EQ(explain_rejection(prose_stage("chat"), Fault::cut).code, "MODEL_TOO_LONG");
}

}  // namespace
}  // namespace runnel::runtime

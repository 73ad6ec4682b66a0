#include "runnel/core/fact/fact_json.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "runnel/core/testing/fact_samples.h"

namespace runnel {
namespace {

std::string to_body(std::vector<Record> const& records) {
  std::string body = "[";
  for (auto const& record : records) {
    if (body.size() > 1) body += ',';
    append_record_json(body, record);
  }
  return body + "]";
}

Errc failure(std::string_view body) {
  auto const result = parse_log_body(body, 7);
  return result ? Errc::invalid : result.error().code;
}

TEST(FactSamples, HaveOneOfEachKind) {
  std::set<std::size_t> kinds;
  for (auto const& record : fact_samples())
    kinds.insert(record.fact.index());
  EXPECT_EQ(kinds.size(), std::variant_size_v<Fact>);
}

TEST(FactJson, EveryKindOfFactComesBackAsItWas) {
  auto const records = fact_samples("日程 \"\\\n\t\u2028 😀");

  auto const read = parse_log_body(to_body(records), 7);

  ASSERT_TRUE(read) << read.error().detail;
  EXPECT_EQ(*read, records);
}

TEST(FactJson, AbsentOptionalsStayAbsent) {
  std::vector<Record> const records{{{7, 1}, 0, 1, RunFailed{"broke", std::nullopt, "e1", {}}}};

  EXPECT_EQ(parse_log_body(to_body(records), 7).value(), records);
}

TEST(FactJson, NamesDiffer) {
  std::set<std::string_view> names;
  for (auto const& record : fact_samples())
    names.insert(fact_name(record.fact));
  EXPECT_EQ(names.size(), std::variant_size_v<Fact>);
}

TEST(FactJson, ARecordHasTheDocumentedForm) {
  std::string out;
  append_record_json(out, {{7, 3}, 2, 1'000'001, TextDelta{MessageId{"m1"}, "Hi\n", 1, 250}});
  EXPECT_EQ(out, R"({"n":3,"idx":2,"ts":1000001,"fact":"text_delta",)"
                 R"("message":"m1","text":"Hi\n","index":1,"elapsed_us":250})");
}

TEST(FactJson, AFieldThatALaterVersionWroteIsIgnored) {
  auto const read = parse_log_body(R"([{"n":1,"idx":-1,"ts":5,"fact":"run_started","mood":"good"}])", 7);
  EXPECT_EQ(read.value(), (std::vector<Record>{{{7, 1}, -1, 5, RunStarted{}}}));
}

TEST(FactJson, AnUnreadableBodyIsCorruptionNotAnEmptyLog) {
  EXPECT_EQ(failure(""), Errc::internal);
  EXPECT_EQ(failure("{}"), Errc::internal);
  EXPECT_EQ(failure("[1]"), Errc::internal);
  EXPECT_EQ(failure(R"([{"n":1,"idx":0,"ts":1}])"), Errc::internal);
  EXPECT_EQ(failure(R"([{"n":1,"idx":0,"ts":1,"fact":"unheard_of"}])"), Errc::internal);
  EXPECT_EQ(failure(R"([{"n":-1,"idx":0,"ts":1,"fact":"run_started"}])"), Errc::internal);
}

TEST(FactJson, AFieldThatAnEarlierVersionDidNotWriteReadsAsItsDefault) {
  auto const read = parse_log_body(
      R"([{"n":1,"idx":0,"ts":5,"fact":"run_finished","usage":[{"model":"m"}],"tool_calls":2}])", 7);

  ASSERT_TRUE(read) << read.error().detail;
  RunFinished expected;
  expected.usage.emplace_back().model = "m";
  expected.tool_calls = 2;
  EXPECT_EQ(*read, (std::vector<Record>{{{7, 1}, 0, 5, expected}}));
}

TEST(FactJson, EveryFactIsReadWithoutItsFields) {
  for (auto const& sample : fact_samples()) {
    auto const name = std::string{fact_name(sample.fact)};
    auto const read = parse_log_body(R"([{"n":1,"idx":0,"ts":1,"fact":")" + name + "\"}]", 7);
    ASSERT_TRUE(read) << name;
    EXPECT_EQ(read->at(0).fact.index(), sample.fact.index()) << name;
  }
}

TEST(FactJson, AMistypedFieldIsCorruption) {
  EXPECT_EQ(failure(R"([{"n":1,"idx":0,"ts":1,"fact":"step_started","stage":1}])"), Errc::internal);
  EXPECT_EQ(failure(R"([{"n":1,"idx":0,"ts":1,"fact":"state_snapshot","snapshot":"{"}])"), Errc::internal);
}

}  // namespace
}  // namespace runnel

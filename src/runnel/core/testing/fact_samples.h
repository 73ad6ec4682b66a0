#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "runnel/core/fact/fact.h"
#include "runnel/core/json/write.h"

// For tests: one record of each kind of fact. No field has its default value, and no two text fields are
// equal.
namespace runnel {

class FactSamples {
 public:
  // Every text begins with `text`, which may hold any bytes.
  explicit FactSamples(std::string text = "text") : text_{std::move(text)} {}

  std::vector<Record> all() {
    static_assert(std::variant_size_v<Fact> == 39, "a new fact needs a sample");
    add_life();
    add_words();
    add_tools();
    add_others();
    return std::move(records_);
  }

 private:
  std::string word() { return text_ + "-" + std::to_string(++words_); }
  template <class Id>
  Id id() {
    return Id{word()};
  }
  JsonText json() {
    std::string out;
    JsonObject{out}.text("said", word()).raw("big", "12345678901234567890123").close();
    return JsonText::parse(out).value();
  }
  JsonText messages() {
    std::string out{'['};
    JsonObject{out}.text("id", word()).text("role", "tool").close();
    return JsonText::parse(out + ']').value();
  }
  std::int64_t number() { return 1000 + ++words_; }
  Usage usage() {
    TokenCounts tokens;  // The log does not keep the tokens written to a cache.
    for (auto* const count : {&tokens.input, &tokens.output, &tokens.total, &tokens.cached, &tokens.cache_hit,
                              &tokens.cache_miss, &tokens.reasoning}) {
      *count = number();
    }
    tokens.complete = false;
    return Usage{word(), word(), tokens, CostSource::catalog_fallback, Money{number()}};
  }
  void add(Fact fact) {
    auto const n = records_.size() + 1;
    records_.push_back({{7, n}, number(), 1'700'000'000'000'000 + number(), std::move(fact)});
  }

  void add_life() {
    add(RunStarted{messages()});
    add(WriterChanged{6, 41});
    add(StepStarted{word()});
    add(StepFinished{word()});
    add(RunFinished{{usage(), usage()}, number(), number(), number(), {}, {id<ToolCallId>()}});
    add(RunFailed{word(), word(), word(), {usage()}});
    add(RunCanceled{{usage()}});
    add(StepPaused{word()});
    add(RunPaused{{Interrupt{word(), id<ToolCallId>(), word(), json(), word()}}, {usage()}});
    add(RunResumed{id<RunId>()});
    add(StepResumed{word()});
  }
  void add_words() {
    add(ReplyStarted{});
    add(ReasoningOpened{id<MessageId>()});
    add(ReasoningStarted{id<MessageId>()});
    add(ReasoningDelta{id<MessageId>(), word()});
    add(ReasoningEnded{id<MessageId>(), word()});
    add(ReasoningClosed{id<MessageId>()});
    add(TextStarted{id<MessageId>(), word()});
    add(TextDelta{id<MessageId>(), word(), number(), number()});
    add(TextEnded{id<MessageId>(), word(), word(), TextOutcome::superseded});
    add(AnswerCompleted{id<MessageId>(),
                        word(),
                        AnswerStatus::partial_success,
                        word(),
                        {word(), word()},
                        json(),
                        {word()},
                        word(),
                        json(),
                        usage()});
  }
  void add_tools() {
    add(ToolHint{word(), word()});
    add(ToolPreparing{word(), word(), word()});
    add(ToolIntent{word(), word(), word()});
    add(ToolCallStarted{id<MessageId>(), id<ToolCallId>(), word(), word()});
    add(ToolArgsDelta{id<ToolCallId>(), word()});
    add(ToolArgs{id<MessageId>(), id<ToolCallId>(), word(), word(), json()});
    add(ToolCallEnded{id<MessageId>(), id<ToolCallId>(), word(), word()});
    add(ToolStarted{word(), id<ToolCallId>(), word(), json(), word()});
    add(ToolProgress{word(), word(), json()});
    add(ToolResult{id<MessageId>(), id<ToolCallId>(), word(), word(), json(), ToolStatus::partial, json(),
                   json(), json(), word(), word()});
    add(ClientCallClosed{id<MessageId>(), id<ToolCallId>(), word(), word(), json(), ToolStatus::failure,
                         word(), json(), json(), word(), false});
    add(CardShown{id<MessageId>(), id<ToolCallId>(), json()});
    add(ApprovalChanged{id<MessageId>(), id<ToolCallId>(), word(), word(), json(), ApprovalStatus::approved,
                        word()});
  }
  void add_others() {
    add(UsageRecorded{word(), usage()});
    add(SystemNote{word()});
    add(StateSnapshot{json()});
    add(MessagesSnapshot{json()});
    add(MessageSuperseded{id<MessageId>(), json()});
  }

  std::string text_;
  std::int64_t words_ = 0;
  std::vector<Record> records_;
};

// One record of each kind of fact. All their texts begin with `text`.
inline std::vector<Record> fact_samples(std::string text = "text") {
  return FactSamples{std::move(text)}.all();
}

}  // namespace runnel

#include "bench/micro/sample_run.h"

#include <utility>

#include "runnel/core/fact/fact_json.h"

namespace runnel::bench {

namespace {

constexpr std::int64_t kStartUs = kEpoch * 1000;
constexpr std::int64_t kTokenUs = 20'000;

MessageId const& answer_id() {
  static MessageId const id{"0b6f0a52-55a4-4a9e-9b0e-3c6a5d0f7e11"};
  return id;
}

Record numbered(std::uint64_t n, Fact fact) {
  return {{kEpoch, n}, -1, kStartUs + static_cast<std::int64_t>(n) * kTokenUs, std::move(fact)};
}

Usage sample_usage(std::size_t tokens) {
  Usage usage;
  usage.provider = "test";
  usage.model = "tok-1000-20000";
  usage.tokens.input = 12;
  usage.tokens.output = static_cast<std::int64_t>(tokens);
  usage.tokens.total = usage.tokens.input + usage.tokens.output;
  return usage;
}

AnswerCompleted sample_answer(std::string text, Usage usage) {
  AnswerCompleted answer;
  answer.message = answer_id();
  answer.stage = "chat";
  answer.answer = std::move(text);
  answer.usage = std::move(usage);
  return answer;
}

}  // namespace

RunNames sample_names() {
  return {ThreadId{"6f1e5c52-6c36-4a7a-8f43-0d5b6f6f2f01"}, RunId{"f2b1d7ce-97fd-4f0e-8a3d-5d2a9a7b6c02"}};
}

Record sample_delta(std::uint64_t n) {
  return numbered(n, TextDelta{answer_id(), "@0011223344556f~", static_cast<std::int64_t>(n), kTokenUs});
}

std::vector<Record> sample_run(std::size_t tokens) {
  std::vector<Record> records;
  auto const say = [&records](Fact fact) {
    records.push_back(numbered(records.size() + 1, std::move(fact)));
  };
  say(RunStarted{});
  say(StepStarted{"chat"});
  say(ReplyStarted{});
  say(TextStarted{answer_id(), "chat"});
  std::string text;
  for (std::size_t i = 0; i < tokens; ++i) {
    records.push_back(sample_delta(records.size() + 1));
    text += "@0011223344556f~";
  }
  say(sample_answer(std::move(text), sample_usage(tokens)));
  say(StepFinished{"chat"});
  say(RunFinished{{sample_usage(tokens)}, 1, 0, 0});
  return records;
}

std::string log_body(std::vector<Record> const& records, std::size_t first, std::size_t last) {
  std::string body;
  for (std::size_t i = first; i < last; ++i) {
    body += i == first ? '[' : ',';
    append_record_json(body, records[i]);
  }
  return body + ']';
}

}  // namespace runnel::bench

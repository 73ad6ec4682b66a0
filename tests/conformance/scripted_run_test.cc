// A run with a tool call, written by the run's writer into a real store and read back in every dialect: what
// a client saw live, what a replay gives and what the history shows are the same (RUN-8, RUN-10, RUN-11, V2-1
// … V2-5, WIRE-1).
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "runnel/core/fact_json.h"
#include "runnel/protocol/encode.h"
#include "runnel/runtime/closing.h"
#include "runnel/runtime/run_writer.h"
#include "runnel/store/sqlite_store.h"
#include "runnel/store/sqlite_under_test.h"

namespace runnel {
namespace {

namespace asio = boost::asio;
namespace json = boost::json;

class Recorder final : public stream::Subscriber {
 public:
  void on_frames(stream::Bytes frames) override { seen += *frames; }
  void on_close(stream::CloseReason /*reason*/) override {}
  std::string seen;
};

JsonText text(char const* value) {
  return JsonText::parse(value).value();
}

store::NewMessage tool_row(char const* id, store::Role role, char const* type, std::string content) {
  store::NewMessage row;
  row.id = MessageId{id};
  row.role = role;
  row.content = std::move(content);
  row.metadata = std::string{R"({"type":")"} + type + R"(","tool_agent_output":{"ui_hints":{"secret":1}}})";
  return row;
}

class ScriptedRun : public testing::Test {
 protected:
  ScriptedRun() {
    store::SqliteOptions options;
    options.path = folder.file("runnel.db");
    store = std::move(store::open_sqlite(std::move(options)).value());
    cores.start();
    admit();
    for (std::size_t d = 0; d < kDialects; ++d) {
      readers.push_back(std::make_shared<Recorder>());
      stream::Channel::Attach request{{}, static_cast<Dialect>(d), 0, readers.back()};
      wait(channel->attach(std::move(request)));
    }
  }
  ~ScriptedRun() override {
    tasks.join();
    store.reset();
    cores.stop();
  }

  template <class T>
  T wait(asio::awaitable<T> work) {
    return asio::co_spawn(cores.at(0), std::move(work), asio::use_future).get();
  }

  // Thread t, run r, whose first facts are the usual two.
  void admit() {
    store::AdmitRequest request;
    request.owner = UserId{"ann"};
    request.thread = ThreadId{"t"};
    request.run = RunId{"r"};
    request.now = clock.now_ms();
    request.input = "{}";
    request.agui_version = "1.0";
    request.default_country = "CN";
    request.begin.user_message = tool_row("u1", store::Role::user, "user_input", "plan my day");
    request.begin.title = "plan my day";
    std::vector<Record> first{{{0, 1}, -1, clock.now_us(), RunStarted{}},
                              {{0, 2}, -1, clock.now_us(), StepStarted{"worker"}}};
    request.begin.facts = {1, 2, 0, "["};
    append_record_json(request.begin.facts.body, first[0]);
    request.begin.facts.body += ',';
    append_record_json(request.begin.facts.body, first[1]);
    request.begin.facts.body += ']';
    auto const admission = wait(store->admit(std::move(request))).value();
    key = admission.run;

    FactOrder order;
    for (auto& record : first) {
      order.accept(record.fact).value();
      record.position.epoch = admission.epoch;
    }
    writer = std::make_shared<runtime::RunWriter>(
        *store, clock, tasks, channel, std::make_shared<base::Cancel>(),
        runtime::RunWriter::Start{key, admission.epoch, 2, 0, std::move(order)},
        runtime::RunWriter::Options{});
    asio::co_spawn(cores.at(0), publish(channel, admission.epoch, std::move(first)), asio::use_future).get();
  }

  static asio::awaitable<void> publish(std::shared_ptr<stream::Channel> channel, Epoch epoch,
                                       std::vector<Record> records) {
    channel->begin_epoch(epoch, 0);
    channel->publish(std::move(records));
    co_return;
  }

  void commit(std::vector<Fact> facts, std::vector<store::NewMessage> messages = {}) {
    runtime::CommitRows rows;
    rows.messages = std::move(messages);
    wait(writer->commit(std::move(facts), std::move(rows))).value();
  }

  // A model that says a word, calls a tool and answers.
  void play() {
    MessageId const said{"m1"};
    MessageId const asked{"m2"};
    MessageId const told{"m3"};
    MessageId const answered{"m4"};
    ToolCallId const call{"call-1"};
    auto const args =
        text(R"({"module":"calendar","method":"read","input":{"mode":"day","date":"2026-01-02"}})");
    auto const result = text(R"({"module":"calendar","method":"read","data":{"items":[],"count":0}})");
    auto const card = text(R"({"format":"a2ui","version":"v0.9","messages":[]})");

    commit({ReplyStarted{}, TextStarted{said, "worker"}, TextDelta{said, "Let me look.", 1, 5}});
    commit({TextEnded{said, "worker", "Let me look.", TextOutcome::complete}},
           {runtime::assistant_row(said, "worker", "Let me look.", "complete")});
    commit({ToolPreparing{"calendar.read:0", "calendar.read", ""},
            ToolCallStarted{asked, call, "project_cli", "worker"}, ToolArgsDelta{call, args.str()},
            ToolIntent{"calendar.read:0", "calendar.read", "look"}});
    commit({ToolArgs{asked, call, "project_cli", "worker", args},
            ToolCallEnded{asked, call, "project_cli", "worker"}},
           {tool_row("m2", store::Role::assistant, "tool_call", args.str())});
    commit({ToolStarted{"tool_0_calendar.read_x", call, "calendar.read",
                        text(R"({"mode":"day","date":"2026-01-02"})"), "calendar.read:0"}});
    ToolResult outcome;
    outcome.message = told;
    outcome.call = call;
    outcome.tool = "project_cli";
    outcome.stage = "worker";
    outcome.args = args;
    outcome.result = result;
    outcome.card = card;
    outcome.action_id = "tool_0_calendar.read_x";
    commit({outcome, CardShown{MessageId{"m3-card"}, call, card}},
           {tool_row("m3", store::Role::tool, "tool_result", result.str())});
    commit({TextStarted{answered, "worker"}, TextDelta{answered, "Nothing today.", 1, 5}});

    AnswerCompleted answer;
    answer.message = answered;
    answer.stage = "worker";
    answer.answer = "Nothing today.";
    runtime::CommitRows rows;
    rows.messages.push_back(runtime::assistant_row(answered, "worker", "Nothing today.", "success"));
    wait(writer->end({answer, StepFinished{"worker"}, RunFinished{{answer.usage}, 2, 1, 0}}, std::move(rows),
                     runtime::RunEnd{store::RunStatus::completed}))
        .value();
    // A card's surface and the answer have reached the readers by the time this post runs.
    wait(nothing());
  }

  static asio::awaitable<void> nothing() { co_return; }

  std::string replay(Dialect dialect) {
    std::string out;
    for (auto const& row : wait(store->read_log(key, 0, 1 << 20)).value()) {
      for (auto const& record : parse_log_body(row.body, row.epoch).value()) {
        protocol::encode_frame(dialect, names, record, out);
      }
    }
    return out;
  }

  // The JSON of each frame.
  static std::vector<json::object> events(std::string const& frames) {
    std::vector<json::object> found;
    for (std::size_t at = 0; (at = frames.find("\ndata: ", at)) != std::string::npos; ++at) {
      auto const end = frames.find('\n', at + 1);
      found.push_back(json::parse(frames.substr(at + 7, end - at - 7)).as_object());
    }
    return found;
  }

  store::TemporaryFolder folder;
  base::Cores cores{1};
  base::SystemClock clock;
  base::TaskGroup tasks;
  std::unique_ptr<store::Store> store;
  RunNames names{ThreadId{"t"}, RunId{"r"}};
  std::shared_ptr<stream::Channel> channel =
      std::make_shared<stream::Channel>(cores, 0, names, &protocol::encode_frame, 4096);
  std::vector<std::shared_ptr<Recorder>> readers;
  std::shared_ptr<runtime::RunWriter> writer;
  RunKey key;
};

TEST_F(ScriptedRun, WIRE_1_ReplayEqualsWhatWasSeenLiveInEveryDialect) {
  play();
  for (std::size_t d = 0; d < kDialects; ++d) {
    auto const dialect = static_cast<Dialect>(d);
    EXPECT_FALSE(readers[d]->seen.empty());
    EXPECT_EQ(readers[d]->seen, replay(dialect)) << to_string(dialect);
  }
}

TEST_F(ScriptedRun, V2_2_ToolEventsCarryOneIdInBothSpellings) {
  play();
  std::vector<std::string> types;
  for (auto const& event : events(replay(Dialect::v2))) {
    types.emplace_back(event.at("type").as_string());
    if (types.back().starts_with("TOOL_CALL_") && types.back() != "TOOL_CALL_RESULT") {
      EXPECT_EQ(event.at("toolCallId"), "call-1");
      EXPECT_EQ(event.at("toolCallName"), "project_cli");
    }
    if (types.back() == "TOOL_CALL_RESULT") {
      EXPECT_EQ(event.at("tool_call_id"), "call-1");
      EXPECT_EQ(event.at("tool_call_args").at("method"), "read");
      EXPECT_EQ(event.at("result").at("data").at("count"), 0);
      EXPECT_EQ(event.at("ui_schema").at("format"), "a2ui");
    }
  }
  EXPECT_EQ(types, (std::vector<std::string>{"RUN_STARTED", "STEP_STARTED", "TOOL_CALL_START",
                                             "TOOL_CALL_ARGS", "TOOL_CALL_END", "TOOL_CALL_RESULT",
                                             "TEXT_MESSAGE_END", "STEP_FINISHED", "RUN_FINISHED"}));
}

TEST_F(ScriptedRun, V2_1_InternalNumbersNeverAppear) {
  play();
  auto const frames = replay(Dialect::v2);
  for (auto const* name : {"inputTokens", "outputTokens", "\"cost\"", "latencyMs", "\"model\"", "ui_hints"}) {
    EXPECT_EQ(frames.find(name), std::string::npos) << name;
  }
}

TEST_F(ScriptedRun, RUN_8_HistoryHasTheRowsAndIdsOfTheWire) {
  play();
  std::vector<std::string> rows;
  std::int64_t seq = 0;
  for (auto const& row :
       wait(store->history(UserId{"ann"}, ThreadId{"t"}, std::nullopt, {})).value().messages) {
    EXPECT_EQ(row.seq, ++seq);
    rows.push_back(std::string{to_string(row.role)} + " " + row.id.text);
  }
  EXPECT_EQ(rows,
            (std::vector<std::string>{"user u1", "assistant m1", "assistant m2", "tool m3", "assistant m4"}));
}

}  // namespace
}  // namespace runnel

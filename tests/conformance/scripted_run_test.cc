// A run with a tool call, written by the run's writer into a real store and read in every dialect. A live
// client, a replay and the history must show the same (RUN-8, RUN-10, RUN-11, V2-1 … V2-5, WIRE-1).
#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "runnel/core/fact/fact_json.h"
#include "runnel/protocol/testing/named_wires.h"
#include "runnel/runtime/writing/message_rows.h"
#include "runnel/runtime/writing/run_writer.h"
#include "runnel/store/sqlite/store.h"
#include "runnel/store/testing/sqlite_under_test.h"
#include "tests/support/run_async.h"

namespace runnel {
namespace {

namespace asio = boost::asio;
namespace json = boost::json;

class Recorder final : public stream::Subscriber {
 public:
  void on_frames(stream::SharedFrames frames) override { seen += frames->bytes; }
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
    store = store::open_sqlite(std::move(options)).value();
    cores.start();
    admit();
    for (auto const wire : protocol::every_wire()) {
      readers.push_back(std::make_shared<Recorder>());
      stream::Channel::Attach request{{}, wire, 0, readers.back()};
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
    return run_async_on(cores.at(0), std::move(work));
  }

  // Admits run r on thread t, with the usual first two facts.
  void admit() {
    store::AdmitRequest request;
    request.owner = UserId{"ann"};
    request.thread = ThreadId{"t"};
    request.run = RunId{"r"};
    request.now = clock.now_ms();
    request.input = "{}";
    request.agui_version = "1.0";
    request.country = "CN";
    request.begin.user_message = tool_row("u1", store::Role::user, "user_input", "plan my day");
    request.begin.title = "plan my day";
    runtime::LogTail tail;
    std::vector<Record> first;
    first.push_back(tail.add(RunStarted{}, clock.now_us()).value());
    first.push_back(tail.add(StepStarted{"worker"}, clock.now_us()).value());
    request.begin.facts = tail.take();
    auto const admission = wait(store->admit(std::move(request))).value();
    key = admission.run;

    tail.set_epoch(admission.epoch);
    writer = std::make_shared<runtime::RunWriter>(
        *store, clock, tasks, channel, std::make_shared<base::Cancel>(),
        runtime::RunWriter::Start{key, std::move(tail)}, runtime::RunWriter::Options{});
    wait(begin(writer, std::move(first)));
  }

  static asio::awaitable<int> begin(std::shared_ptr<runtime::RunWriter> writer, std::vector<Record> first) {
    writer->begin(std::move(first));
    co_return 0;
  }

  void commit(std::vector<Fact> facts, std::vector<store::NewMessage> messages = {}) {
    runtime::Commit commit;
    commit.facts = std::move(facts);
    commit.rows.messages = std::move(messages);
    wait(writer->commit(std::move(commit))).value();
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
    runtime::Commit last;
    last.facts = {answer, StepFinished{"worker"}, RunFinished{{answer.usage}, 2, 1, 0}};
    last.rows.messages.push_back(runtime::assistant_row(answered, "worker", "Nothing today.", "success"));
    wait(writer->end(std::move(last), runtime::RunEnd{store::RunStatus::completed})).value();
    // When this has run, the card and the answer have reached the readers.
    wait(nothing());
  }

  static asio::awaitable<void> nothing() { co_return; }

  std::string replay(Wire wire) {
    std::string out;
    for (auto const& row : wait(store->read_log(key, 0, 1 << 20)).value()) {
      for (auto const& record : parse_log_body(row.body, row.epoch).value()) {
        protocol::encode(wire, names, record, out);
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
  std::shared_ptr<stream::Channel> channel = std::make_shared<stream::Channel>(
      cores, 0, names, stream::Encoding{&protocol::encode, protocol::all_wires().size()}, 4096);
  std::vector<std::shared_ptr<Recorder>> readers;
  std::shared_ptr<runtime::RunWriter> writer;
  RunKey key;
};

TEST_F(ScriptedRun, WIRE_1_ReplayEqualsWhatWasSeenLiveInEveryDialect) {
  play();
  for (auto const wire : protocol::every_wire()) {
    auto const& seen = readers[static_cast<std::size_t>(wire)]->seen;
    EXPECT_FALSE(seen.empty());
    EXPECT_EQ(seen, replay(wire)) << protocol::name_of(wire);
  }
}

TEST_F(ScriptedRun, V2_2_ToolEventsCarryOneIdInBothSpellings) {
  play();
  std::vector<std::string> types;
  for (auto const& event : events(replay(protocol::kV2))) {
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
  auto const frames = replay(protocol::kV2);
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

#include "runnel/tools/project_cli_tool.h"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/json.hpp>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <array>
#include <deque>
#include <filesystem>
#include <fstream>
#include <variant>

#include "runnel/base/testing/chosen_clock.h"
#include "tests/support/run_async.h"

namespace runnel::tools {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

constexpr char kDone[] =
    R"(echo '{"ok":true,"module":"calendar","method":"create","data":{"event_id":"e1"}}')";

// Answers as the test says, and remembers what it was asked.
class ScriptedAccess final : public ModuleAccess {
 public:
  Result<base::Descriptor> connect() override {
    if (refuses) return Error{Errc::unavailable, "as the test wants"};
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    ours.emplace_back(ends[0]);
    return base::Descriptor{ends[1]};
  }
  boost::asio::awaitable<Result<CallReceipt>> settle(base::ToolGrant grant, std::string error) override {
    settled.push_back(error);
    grants.push_back(grant);
    if (receipts.empty()) co_return failed_with(error);
    auto receipt = receipts.front();
    receipts.pop_front();
    co_return receipt;
  }

  bool refuses = false;
  static CallReceipt failed_with(std::string const& error) { return {false, error}; }

  std::deque<Result<CallReceipt>> receipts;  // The next answers; without one, the error stands.
  std::vector<std::string> settled;
  std::vector<base::ToolGrant> grants;
  std::deque<base::Descriptor> ours;
};

// The programs are shell scripts, which take no rights away from themselves.
class ProjectCliCall : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "runnel-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  void write_script(std::string const& name, std::string const& text) {
    auto const path = folder / name;
    std::ofstream{path} << "#!/bin/sh\n" << text << "\n";
    ASSERT_EQ(::chmod(path.c_str(), 0755), 0);
  }

  ProjectCliTool make_tool(std::string const& script) {
    write_script("cli", script);
    ProjectCliOptions options;
    options.program = folder / "cli";
    options.time = time;
    options.output_bytes = 4096;
    options.methods = {"calendar.create"};
    return ProjectCliTool{{credentials, clock, access, starting, slots, slots}, options};
  }

  static ToolJob make_job() {
    ToolJob job;
    job.id = ToolCallId{"call_1"};
    job.run = RunId{"r1"};
    job.user = UserId{"ann"};
    job.args =
        JsonText::parse(
            R"({"module":"calendar","method":"create","input":{"mode":"single","title":"a b; `x` $HOME"}})")
            .value();
    job.epoch = 7;
    return job;
  }

  Result<ToolOutcome> run(std::string const& script, ToolJob job = make_job()) {
    auto tool = make_tool(script);
    return run_async(tool.run(std::move(job), cancel));
  }
  std::string code_of(Result<ToolOutcome> const& outcome) {
    EXPECT_EQ(outcome.value().status, ToolStatus::failure);
    return std::string{json::parse(outcome.value().result.str()).at("error").at("code").as_string()};
  }
  [[nodiscard]] std::string file(std::string const& name) const {
    std::ifstream in{folder / name};
    return {std::istreambuf_iterator<char>{in}, {}};
  }

  std::filesystem::path folder;
  base::ChosenClock clock;
  base::ToolCredentials credentials;
  ScriptedAccess access;
  std::chrono::milliseconds time = 10s;
  std::shared_ptr<base::BlockingPool> starting = std::make_shared<base::BlockingPool>(1);
  std::shared_ptr<ProgramSlots> slots = std::make_shared<ProgramSlots>(ProgramSlotLimits{});
  std::shared_ptr<base::Cancel> cancel = std::make_shared<base::Cancel>();
};

TEST_F(ProjectCliCall, TOOL_2_ProgramGetsTheMethodTheInputTheCredentialAndTheConnection) {
  auto const here = folder.string();
  auto const outcome = run("printf '%s|' \"$@\" > " + here + "/args; cat > " + here + "/input; env > " +
                           here + "/env; ls /proc/self/fd > " + here + "/fds; " + kDone);

  EXPECT_EQ(outcome.value().result.str(),
            R"({"status":"success","module":"calendar","method":"create","data":{"event_id":"e1"}})");
  EXPECT_EQ(file("args"), "calendar|create|--mode=single|--format=json|");
  EXPECT_EQ(file("input"), R"({"mode":"single","title":"a b; `x` $HOME"})");
  EXPECT_NE(file("fds").find("3\n"), std::string::npos);
  EXPECT_TRUE(access.settled.empty());
  auto const environment = file("env");
  auto const at = environment.find("RUNNEL_TOOL_CREDENTIAL=");
  ASSERT_NE(at, std::string::npos);
  auto const begin = at + std::string{"RUNNEL_TOOL_CREDENTIAL="}.size();
  auto const credential = environment.substr(begin, environment.find('\n', begin) - begin);
  auto const verified = credentials.verify(credential, clock.now / 1000);
  EXPECT_EQ(std::get<base::ToolGrant>(verified),
            (base::ToolGrant{UserId{"ann"}, RunId{"r1"}, ToolCallId{"call_1"}, 7, "calendar.create"}));
}

TEST_F(ProjectCliCall, TOOL_9_AnswerWithTheCredentialIsAFailure) {
  auto const outcome = run(R"(echo "{\"ok\":true,\"module\":\"calendar\",\"method\":\"create\",)"
                           R"(\"data\":{\"c\":\"$RUNNEL_TOOL_CREDENTIAL\"}}")");

  EXPECT_EQ(code_of(outcome), "INVALID_OUTPUT");
}

TEST_F(ProjectCliCall, TOOL_2_ModeThatIsNoPlainWordIsNoArgument) {
  auto job = make_job();
  job.args =
      JsonText::parse(R"({"module":"calendar","method":"create","input":{"mode":"--format=x y"}})").value();

  run("printf '%s|' \"$@\" > " + folder.string() + "/args; " + kDone, std::move(job)).value();

  EXPECT_EQ(file("args"), "calendar|create|--format=json|");
}

TEST_F(ProjectCliCall, RUN_12_FailureIsSettledBeforeItIsTold) {
  EXPECT_EQ(code_of(run("exit 9")), "TOOL_CRASHED");

  ASSERT_EQ(access.settled.size(), 1U);
  EXPECT_EQ(json::parse(access.settled[0]).at("code"), "TOOL_CRASHED");
  EXPECT_EQ(access.grants[0].epoch, 7);
}

TEST_F(ProjectCliCall, RUN_12_EffectThatHappenedIsASuccessThoughTheProgramDied) {
  access.receipts.emplace_back(CallReceipt{true, R"({"event_id":"e2"})"});

  auto const outcome = run("kill -9 $$");

  EXPECT_EQ(outcome.value().status, ToolStatus::success);
  EXPECT_EQ(outcome.value().result.str(),
            R"({"status":"success","module":"calendar","method":"create","data":{"event_id":"e2"}})");
}

TEST_F(ProjectCliCall, RUN_12_EarlierFailureStands) {
  access.receipts.emplace_back(CallReceipt{false, R"({"code":"TOOL_TIMEOUT","message":"too long"})"});

  EXPECT_EQ(code_of(run("exit 9")), "TOOL_TIMEOUT");
}

TEST_F(ProjectCliCall, DB_3_StoreThatDoesNotAnswerIsAskedAgain) {
  access.receipts.emplace_back(Error{Errc::unavailable, "as the test wants"});
  access.receipts.emplace_back(Error{Errc::unavailable, "as the test wants"});

  EXPECT_EQ(code_of(run("exit 9")), "TOOL_CRASHED");
  EXPECT_EQ(access.settled.size(), 3U);
}

TEST_F(ProjectCliCall, RUN_12_CallOfAnEndingRunIsDecided) {
  auto tool = make_tool(kDone);
  access.receipts.emplace_back(CallReceipt{true, R"({"event_id":"e3"})"});

  auto const happened = run_async(tool.settle(make_job(), "CANCELED", cancel)).value().value();
  auto const not_happened = run_async(tool.settle(make_job(), "CANCELED", cancel)).value().value();

  EXPECT_EQ(happened.status, ToolStatus::success);
  EXPECT_EQ(not_happened.summary, "CANCELED");
}

TEST_F(ProjectCliCall, RUN_12_CallOfAnotherWriterEndsTheRun) {
  access.receipts.emplace_back(Error{Errc::fenced, "as the test wants"});

  EXPECT_EQ(run("exit 9").error().code, Errc::fenced);
}

TEST_F(ProjectCliCall, TOOL_10_TimeAndOutputAreLimited) {
  time = 50ms;
  EXPECT_EQ(code_of(run("sleep 20")), "TOOL_TIMEOUT");
  time = 10s;
  EXPECT_EQ(code_of(run("head -c 10000 /dev/zero")), "OUTPUT_TOO_LARGE");
  auto job = make_job();
  job.deadline = std::chrono::steady_clock::now() + 50ms;
  EXPECT_EQ(code_of(run("sleep 20", std::move(job))), "TOOL_TIMEOUT");
}

TEST_F(ProjectCliCall, TOOL_10_ProgramThatCannotBeStartedIsAFailure) {
  access.refuses = true;
  EXPECT_EQ(code_of(run(kDone)), "TOOL_NOT_STARTED");
  access.refuses = false;
  auto tool = make_tool(kDone);
  std::filesystem::remove(folder / "cli");
  EXPECT_EQ(code_of(run_async(tool.run(make_job(), cancel))), "TOOL_NOT_STARTED");
}

// Stops the call while its program sleeps.
boost::asio::awaitable<Result<ToolOutcome>> stop_soon(ProjectCliTool* tool, ToolJob job,
                                                      std::shared_ptr<base::Cancel> cancel,
                                                      base::CancelReason reason) {
  auto const executor = co_await boost::asio::this_coro::executor;
  boost::asio::steady_timer timer{executor, 100ms};
  timer.async_wait([cancel, reason](boost::system::error_code) { cancel->request(reason); });
  auto outcome = co_await tool->run(std::move(job), cancel);
  co_return outcome;
}

TEST_F(ProjectCliCall, RUN_4_CancelKillsTheProgramAndSettlesTheCall) {
  auto tool = make_tool("sleep 20");
  auto const begun = std::chrono::steady_clock::now();

  auto const outcome = run_async(stop_soon(&tool, make_job(), cancel, base::CancelReason::user));

  EXPECT_EQ(outcome.error().code, Errc::canceled);
  ASSERT_EQ(access.settled.size(), 1U);
  EXPECT_EQ(json::parse(access.settled[0]).at("code"), "CANCELED");
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 5s);
}

TEST_F(ProjectCliCall, RUN_4_CallThatTookEffectBeforeItsCancelIsASuccess) {
  access.receipts.emplace_back(CallReceipt{true, "{}"});
  auto tool = make_tool("sleep 20");

  auto const outcome = run_async(stop_soon(&tool, make_job(), cancel, base::CancelReason::user));

  EXPECT_EQ(outcome.value().status, ToolStatus::success);
}

TEST_F(ProjectCliCall, RUN_12_CallOfAStoppingServerIsLeftToTheNextOne) {
  auto tool = make_tool("sleep 20");

  auto const outcome = run_async(stop_soon(&tool, make_job(), cancel, base::CancelReason::shutdown));

  EXPECT_EQ(outcome.error().code, Errc::canceled);
  EXPECT_TRUE(access.settled.empty());
}

TEST_F(ProjectCliCall, RUN_12_CallOfARunWhoseTimeIsUpIsAKnownFailure) {
  auto tool = make_tool("sleep 20");

  EXPECT_EQ(code_of(run_async(stop_soon(&tool, make_job(), cancel, base::CancelReason::time_up))),
            "TOOL_TIMEOUT");
}

}  // namespace
}  // namespace runnel::tools

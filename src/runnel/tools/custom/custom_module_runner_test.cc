#include "runnel/tools/custom/custom_module_runner.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include "tests/support/run_async.h"

namespace runnel::tools {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

constexpr char kSunny[] =
    R"(echo '{"ok":true,"module":"weather","method":"forecast","data":{"sky":"blue"}}')";

// The programs are shell scripts: the sandbox starts the program and takes no rights away.
class CustomModuleCall : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "runnel-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder = pattern;
    write_script("sandbox", R"(echo "$@" > )" + (folder / "options").string() +
                                R"(; while [ "$1" != -- ]; do shift; done; shift; exec "$@")");
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  void write_script(std::string const& name, std::string const& text) const {
    auto const path = folder / name;
    std::ofstream{path} << "#!/bin/sh\n" << text << "\n";
    ASSERT_EQ(::chmod(path.c_str(), 0755), 0);
  }

  [[nodiscard]] CustomModule make_module() const {
    CustomModule module;
    module.name = "weather";
    module.program = folder / "program";
    module.variables = {"KEY=a long secret"};
    module.readable = {"/usr"};
    auto schema = base::JsonSchema::load(json::object{{"type", "object"}}, {});
    module.methods.emplace_back("forecast", schema.value());
    module.methods.back().idempotent = idempotent;
    return module;
  }

  Result<ToolOutcome> run(std::string const& script, bool repeat = false) {
    write_script("program", script);
    std::vector<CustomModule> all;
    all.push_back(make_module());
    CustomModules const modules{std::move(all)};
    CustomModuleOptions options;
    options.sandbox.program = folder / "sandbox";
    options.time = time;
    options.output_bytes = 4096;
    CustomModuleRunner runner{options, starting};
    ToolJob job;
    job.id = ToolCallId{"call_1"};
    job.run = RunId{"r1"};
    job.user = UserId{"ann"};
    job.args =
        JsonText::parse(R"({"module":"weather","method":"forecast","input":{"place":"Oslo"}})").value();
    job.repeat = repeat;
    return run_async(start(&runner, job, modules.find("weather.forecast").value()));
  }
  // Stops the call for `stop_reason`, a moment after its program has written the marker.
  boost::asio::awaitable<void> stop_at_marker() {
    boost::asio::steady_timer timer{co_await boost::asio::this_coro::executor};
    while (file("marker").empty()) {
      timer.expires_after(5ms);
      co_await timer.async_wait(boost::asio::use_awaitable);
    }
    timer.expires_after(100ms);
    co_await timer.async_wait(boost::asio::use_awaitable);
    cancel->request(*stop_reason);
  }
  boost::asio::awaitable<Result<ToolOutcome>> start(CustomModuleRunner* runner, ToolJob job,
                                                    CustomCallee callee) {
    auto const executor = co_await boost::asio::this_coro::executor;
    if (stop_reason) boost::asio::co_spawn(executor, stop_at_marker(), boost::asio::detached);
    auto outcome = co_await runner->run(std::move(job), callee, cancel);
    co_return outcome;
  }
  [[nodiscard]] std::string marker() const { return (folder / "marker").string(); }
  static std::string error_code(Result<ToolOutcome> const& outcome) { return outcome.value().summary; }
  [[nodiscard]] std::string file(std::string const& name) const {
    std::ifstream in{folder / name};
    return {std::istreambuf_iterator<char>{in}, {}};
  }

  std::filesystem::path folder;
  std::optional<base::CancelReason> stop_reason;
  bool idempotent = false;
  std::chrono::milliseconds time = 10s;
  std::shared_ptr<base::BlockingPool> starting = std::make_shared<base::BlockingPool>(1);
  std::shared_ptr<base::Cancel> cancel = std::make_shared<base::Cancel>();
};

TEST_F(CustomModuleCall, TOOL_13_ProgramGetsItsCallAndNoCredential) {
  auto const here = folder.string();

  auto const outcome = run("printf '%s|' \"$@\" > " + here + "/args; cat > " + here + "/input; env > " +
                           here + "/env; ls /proc/self/fd > " + here + "/fds; " + kSunny);

  EXPECT_EQ(outcome.value().result.str(),
            R"({"status":"success","module":"weather","method":"forecast","data":{"sky":"blue"}})");
  EXPECT_EQ(file("args"), "weather|forecast|--format=json|");
  EXPECT_EQ(file("input"), R"({"place":"Oslo"})");
  auto const environment = file("env");
  EXPECT_THAT(environment, HasSubstr("RUNNEL_USER_ID=ann\n"));
  EXPECT_THAT(environment, HasSubstr("RUNNEL_TOOL_CALL_ID=call_1\n"));
  EXPECT_THAT(environment, HasSubstr("RUNNEL_REPEAT=0\n"));
  EXPECT_THAT(environment, HasSubstr("KEY=a long secret\n"));
  EXPECT_THAT(environment, Not(HasSubstr("CREDENTIAL")));
  // 3 is what ls itself opens.
  EXPECT_EQ(file("fds"), "0\n1\n2\n3\n");
  EXPECT_THAT(file("options"), HasSubstr("--read=/usr"));
  EXPECT_THAT(file("options"), Not(HasSubstr("--network")));
}

TEST_F(CustomModuleCall, TOOL_5_FailureOfTheProgramIsPassedOn) {
  auto const outcome = run(
      R"(echo '{"ok":false,"module":"weather","method":"forecast","error":{"code":"NO_SUCH_PLACE","message":"none"}}'; exit 1)");

  EXPECT_EQ(outcome.value().result.str(),
            R"({"status":"failure","error":{"code":"NO_SUCH_PLACE","message":"none"}})");
}

TEST_F(CustomModuleCall, TOOL_10_ProgramThatBreaksIsAFailureThatLeavesTheOutcomeOpen) {
  time = 200ms;
  EXPECT_EQ(error_code(run("sleep 30")), "TOOL_TIMEOUT");
  EXPECT_EQ(error_code(run("exit 3")), "TOOL_CRASHED");
  EXPECT_EQ(error_code(run("kill -9 $$")), "TOOL_CRASHED");
  EXPECT_EQ(error_code(run("echo sunny")), "INVALID_OUTPUT");
  EXPECT_EQ(error_code(run(std::string{kSunny} + ";" + kSunny)), "INVALID_OUTPUT");
  auto const flooded = run("yes");
  EXPECT_EQ(error_code(flooded), "OUTPUT_TOO_LARGE");
  EXPECT_THAT(flooded.value().result.str(), HasSubstr("unknown whether it took effect"));
}

TEST_F(CustomModuleCall, TOOL_13_OutputWithASecretIsAFailure) {
  auto const outcome =
      run(R"(echo "{\"ok\":true,\"module\":\"weather\",\"method\":\"forecast\",\"data\":{\"k\":\"$KEY\"}}")");

  EXPECT_EQ(error_code(outcome), "INVALID_OUTPUT");
  EXPECT_THAT(outcome.value().result.str(), Not(HasSubstr("a long secret")));
}

TEST_F(CustomModuleCall, RUN_12_RepeatIsMadeOnlyIfTheMethodIsIdempotent) {
  auto const script = "echo x >> " + folder.string() + "/calls; " + kSunny;

  EXPECT_EQ(error_code(run(script, true)), "OUTCOME_UNKNOWN");
  EXPECT_EQ(file("calls"), "");
  idempotent = true;
  EXPECT_EQ(run(script, true).value().status, ToolStatus::success);
  EXPECT_EQ(file("calls"), "x\n");
}

TEST_F(CustomModuleCall, RUN_4_CanceledCallFailsAsCanceledAndItsProgramEnds) {
  stop_reason = base::CancelReason::user;

  EXPECT_EQ(run("echo $$ > " + marker() + "; exec sleep 60").error().code, Errc::canceled);
  EXPECT_NE(::kill(std::stoi(file("marker")), 0), 0);
}

TEST_F(CustomModuleCall, RUN_12_ResultThatIsThereAtAShutdownIsKept) {
  stop_reason = base::CancelReason::shutdown;

  // The program has ended when the server stops, but another one holds its output.
  auto const outcome = run(std::string{kSunny} + "; setsid sh -c 'echo x > " + marker() +
                           "; exec sleep 2' & while [ ! -s " + marker() + " ]; do sleep 0.01; done; exit 0");
  EXPECT_EQ(outcome.value().status, ToolStatus::success);
}

}  // namespace
}  // namespace runnel::tools

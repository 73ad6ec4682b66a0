#include "runnel/base/process/child.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "runnel/base/sleep.h"
#include "tests/support/run_async.h"

namespace runnel::base {
namespace {

using namespace std::chrono_literals;
using End = ChildOutcome::End;

SpawnRequest shell(std::string script) {
  SpawnRequest request;
  request.program = "/bin/sh";
  request.arguments = {"-c", std::move(script)};
  request.environment = {"PATH=/usr/bin:/bin"};
  return request;
}

class ChildProcess : public testing::Test {
 protected:
  Result<ChildOutcome> run(SpawnRequest request, ChildLimits limits = {}) {
    return run_async(run_child(std::move(request), limits, starting, cancel));
  }
  ChildOutcome ended(SpawnRequest request, ChildLimits limits = {}) {
    return run(std::move(request), limits).value();
  }

  std::shared_ptr<BlockingPool> starting = std::make_shared<BlockingPool>(1);
  std::shared_ptr<Cancel> cancel = std::make_shared<Cancel>();
};

// Whether the process has ended, or ends within some seconds. Nobody may have reaped it yet.
bool is_gone(pid_t pid) {
  for (int i = 0; i < 500; ++i) {
    std::ifstream stat{"/proc/" + std::to_string(pid) + "/stat"};
    std::string const line{std::istreambuf_iterator<char>{stat}, {}};
    if (line.empty() || line.find(") Z ") != std::string::npos) return true;
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

ChildLimits for_time(std::chrono::milliseconds time) {
  ChildLimits limits;
  limits.time = time;
  return limits;
}

TEST_F(ChildProcess, ReadsItsInputAndIsReadToItsEnd) {
  auto request = shell("cat; echo complaint >&2; exit 3");
  request.input = std::string(300'000, 'x');

  auto const outcome = ended(request);

  EXPECT_EQ(outcome.end, End::exited);
  EXPECT_EQ(outcome.code, 3);
  EXPECT_EQ(outcome.output, request.input);
  EXPECT_EQ(outcome.errors, "complaint\n");
}

TEST_F(ChildProcess, NeedNotReadItsInput) {
  auto request = shell("echo done");
  request.input = std::string(300'000, 'x');

  EXPECT_EQ(ended(request).output, "done\n");
}

TEST_F(ChildProcess, GetsItsArgumentsAsTheyAre) {
  SpawnRequest request;
  request.program = "/usr/bin/printf";
  request.arguments = {"%s|", "$(id)", "; rm -rf x", "--config=x", "a\nb"};

  EXPECT_EQ(ended(request).output, "$(id)|; rm -rf x|--config=x|a\nb|");
}

TEST_F(ChildProcess, SeesOnlyTheGivenEnvironment) {
  ::setenv("RUNNEL_TEST_SECRET", "canary", 1);
  SpawnRequest request;
  request.program = "/usr/bin/env";
  request.environment = {"A=1", "B=two words"};

  EXPECT_EQ(ended(request).output, "A=1\nB=two words\n");
  ::unsetenv("RUNNEL_TEST_SECRET");
}

TEST_F(ChildProcess, InheritsNoDescriptorButItsOwn) {
  Descriptor const left_open{::open("/dev/null", O_RDONLY)};  // Not close-on-exec.

  auto const outcome = ended(shell("exec ls /proc/self/fd"));

  EXPECT_EQ(outcome.output, "0\n1\n2\n3\n");  // 3 is the folder that ls reads.
}

TEST_F(ChildProcess, CanBeGivenADescriptor) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  Descriptor const ours{ends[0]};
  Descriptor theirs{ends[1]};
  auto request = shell("read word <&3; echo got $word; echo answer >&3");
  request.inherited = std::make_shared<Descriptor const>(std::move(theirs));
  ASSERT_EQ(::write(ours.get(), "hello\n", 6), 6);

  auto const outcome = ended(request);

  EXPECT_EQ(outcome.output, "got hello\n");
  std::array<char, 16> buffer{};
  EXPECT_EQ(::read(ours.get(), buffer.data(), buffer.size()), 7);
}

TEST_F(ChildProcess, StartsWithNoSignalBlockedOrIgnored) {
  auto const before = std::signal(SIGPIPE, SIG_IGN);
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
  starting = std::make_shared<BlockingPool>(1);  // Its thread inherits the mask.

  SpawnRequest request;  // Not a shell, which would change its own mask.
  request.program = "/bin/grep";
  request.arguments = {"-E", "^Sig(Blk|Ign)", "/proc/self/status"};
  auto const outcome = ended(request);

  pthread_sigmask(SIG_UNBLOCK, &blocked, nullptr);
  std::signal(SIGPIPE, before);
  // Signals 32 and 33 belong to the C library, which lets a new program ignore them.
  EXPECT_THAT(outcome.output, testing::MatchesRegex("SigBlk:\t0+\nSigIgn:\t0+(180000000)?\n"));
}

TEST_F(ChildProcess, CrashIsTold) {
  auto const outcome = ended(shell("kill -SEGV $$"));

  EXPECT_EQ(outcome.end, End::signaled);
  EXPECT_EQ(outcome.code, SIGSEGV);
}

TEST_F(ChildProcess, ProgramThatCannotBeExecutedIsInvalid) {
  SpawnRequest request;
  request.program = "/nonexistent/program";
  EXPECT_EQ(run(request).error().code, Errc::invalid);
  request.program = "/etc/passwd";
  EXPECT_EQ(run(request).error().code, Errc::invalid);
}

TEST_F(ChildProcess, TextWithANulIsInvalid) {
  auto argument = shell("echo started");
  argument.arguments.push_back(std::string{"a\0b", 3});
  auto variable = shell("echo started");
  variable.environment.push_back(std::string{"A=\0b", 4});

  EXPECT_EQ(run(argument).error().code, Errc::invalid);
  EXPECT_EQ(run(variable).error().code, Errc::invalid);
}

TEST_F(ChildProcess, HangEndsAtTheTimeLimit) {
  auto const began = std::chrono::steady_clock::now();

  auto const outcome = ended(shell("trap '' TERM INT; echo begun; sleep 60"), for_time(2s));

  EXPECT_EQ(outcome.end, End::timed_out);
  EXPECT_EQ(outcome.output, "begun\n");
  EXPECT_LT(std::chrono::steady_clock::now() - began, 30s);
}

TEST_F(ChildProcess, FloodEndsAtTheOutputLimit) {
  ChildLimits limits;
  limits.output_bytes = 100'000;

  auto const outcome = ended(shell("exec yes"), limits);

  EXPECT_EQ(outcome.end, End::output_too_large);
  EXPECT_EQ(outcome.output.size(), 100'000U);
}

TEST_F(ChildProcess, OutputAtTheLimitIsWhole) {
  ChildLimits limits;
  limits.output_bytes = 5;

  EXPECT_EQ(ended(shell("printf 12345"), limits).end, End::exited);
  EXPECT_EQ(ended(shell("printf 123456"), limits).end, End::output_too_large);
}

TEST_F(ChildProcess, MoreErrorsThanAreKeptAreHarmless) {
  ChildLimits limits;
  limits.error_bytes = 1000;

  auto const outcome = ended(shell("head -c 100000 /dev/zero >&2; echo fine"), limits);

  EXPECT_EQ(outcome.end, End::exited);
  EXPECT_EQ(outcome.output, "fine\n");
  EXPECT_EQ(outcome.errors.size(), 1000U);
}

TEST_F(ChildProcess, EverythingThatItStartedEndsWithIt) {
  auto const outcome = ended(shell("sleep 60 & echo $!"));

  EXPECT_EQ(outcome.end, End::exited);
  EXPECT_TRUE(is_gone(std::stoi(outcome.output)));
}

// A sandbox would refuse setsid. The one who left writes as fast as it can, which must not keep the reader
// busy.
TEST_F(ChildProcess, WhoeverLeftTheGroupHoldsNothingUp) {
  auto const outcome = ended(shell("setsid sh -c 'echo $$ >&2; exec yes' & sleep 60"));

  EXPECT_EQ(outcome.end, End::output_too_large);
  ASSERT_FALSE(outcome.errors.empty());
  EXPECT_TRUE(is_gone(std::stoi(outcome.errors)));  // By SIGPIPE: nobody reads what it writes.
}

TEST_F(ChildProcess, FloodOfErrorsEndsIt) {
  ChildLimits limits;
  limits.error_bytes = 100;

  auto const outcome = ended(shell("exec yes >&2"), limits);

  EXPECT_EQ(outcome.end, End::output_too_large);
  EXPECT_EQ(outcome.errors.size(), 100U);
}

// Requests the stop as soon as the file has something in it.
boost::asio::awaitable<Result<ChildOutcome>> stop_when_written(std::filesystem::path file,
                                                               std::shared_ptr<Cancel> cancel) {
  auto const never = std::make_shared<Cancel>();
  std::error_code error;
  while (!(std::filesystem::file_size(file, error) > 0) || error)
    co_await sleep_for(10ms, never);
  cancel->request(CancelReason::user);
  co_return ChildOutcome{};
}

TEST_F(ChildProcess, CancelEndsTheWholeGroup) {
  auto const file = std::filesystem::temp_directory_path() / ("runnel-child-" + std::to_string(::getpid()));
  std::vector<boost::asio::awaitable<Result<ChildOutcome>>> work;
  work.push_back(run_child(shell("sleep 60 & echo $! > " + file.string() + "; wait"), {}, starting, cancel));
  work.push_back(stop_when_written(file, cancel));

  auto const outcomes = run_all_async(std::move(work));

  EXPECT_EQ(outcomes.front().error().code, Errc::canceled);
  std::ifstream in{file};
  pid_t grandchild = 0;
  in >> grandchild;
  ASSERT_GT(grandchild, 0);
  EXPECT_TRUE(is_gone(grandchild));
  std::filesystem::remove(file);
}

TEST_F(ChildProcess, NothingIsStartedAfterACancel) {
  cancel->request(CancelReason::user);

  EXPECT_EQ(run(shell("echo started")).error().code, Errc::canceled);
}

TEST_F(ChildProcess, ManyAtOnceLeaveNothingBehind) {
  auto const descriptors = [] {
    auto const entries = std::filesystem::directory_iterator{"/proc/self/fd"};
    return std::distance(begin(entries), end(entries));
  };
  auto const before = descriptors();
  std::vector<boost::asio::awaitable<Result<ChildOutcome>>> work;
  for (int i = 0; i < 100; ++i)
    work.push_back(run_child(shell(i % 2 == 0 ? "echo $$" : "echo $$; kill -9 $$"), {}, starting, cancel));

  auto const outcomes = run_all_async(std::move(work));

  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    auto const& outcome = outcomes[i].value();
    EXPECT_EQ(outcome.end, i % 2 == 0 ? End::exited : End::signaled);
    EXPECT_EQ(::kill(std::stoi(outcome.output), 0), -1) << "not reaped";
  }
  EXPECT_EQ(descriptors(), before);
}

}  // namespace
}  // namespace runnel::base

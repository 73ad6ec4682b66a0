#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <string>

// If one test takes longer than any test should, prints the test's name and aborts the test program. So a
// test that would wait for ever fails within minutes.
namespace runnel {
namespace {

constexpr unsigned kLongestTestSeconds = 180;

// Set between tests, and read by the signal handler.
std::string& running_test() {
  static std::string name;
  return name;
}

extern "C" void tell_and_abort(int /*signal*/) {
  auto const& name = running_test();
  [[maybe_unused]] auto const written = write(STDERR_FILENO, name.data(), name.size());
  abort();
}

class TimeLimit : public testing::EmptyTestEventListener {
  void OnTestStart(testing::TestInfo const& test) override {
    running_test() = std::string{"\ntest does not end: "} + test.test_suite_name() + "." + test.name() + "\n";
    alarm(kLongestTestSeconds);
  }
  void OnTestEnd(testing::TestInfo const& /*test*/) override { alarm(0); }
};

[[maybe_unused]] bool const installed = [] {
  signal(SIGALRM, &tell_and_abort);
  testing::UnitTest::GetInstance()->listeners().Append(new TimeLimit);  // UnitTest owns its listeners.
  return true;
}();

}  // namespace
}  // namespace runnel

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <string>

// Ends the test binary, naming the test, where one test takes longer than any should: a test that waits for
// what never comes fails within minutes and does not hold up whoever waits for its outcome.
namespace runnel {
namespace {

constexpr unsigned kLongestTestSeconds = 180;

// Set between tests, read by the signal's handler.
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
  testing::UnitTest::GetInstance()->listeners().Append(new TimeLimit);  // It owns its listeners.
  return true;
}();

}  // namespace
}  // namespace runnel

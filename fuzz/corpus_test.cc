#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "fuzz/target.h"

// Each target with its corpus, and with changes of it that are the same in every run. To look for changes
// that reach new code is the work of libFuzzer (fuzz/run).

RUNNEL_FUZZ_TARGET(http_request);
RUNNEL_FUZZ_TARGET(ics);
RUNNEL_FUZZ_TARGET(json_body);
RUNNEL_FUZZ_TARGET(jwt);
RUNNEL_FUZZ_TARGET(last_event_id);
RUNNEL_FUZZ_TARGET(live_text);
RUNNEL_FUZZ_TARGET(model_stream);
RUNNEL_FUZZ_TARGET(sse_frames);
RUNNEL_FUZZ_TARGET(sse_stream);
RUNNEL_FUZZ_TARGET(web_socket);

// Of the sanitizers' runtime; null without one.
extern "C" void __sanitizer_set_death_callback(void (*callback)()) __attribute__((weak));

namespace runnel {
namespace {

constexpr int kChangesOfEach = 100;

struct Target {
  char const* name;
  int (*try_input)(std::uint8_t const* data, std::size_t size);
};

void PrintTo(Target const& target, std::ostream* out) {
  *out << target.name;
}

std::vector<std::string> read_corpus(char const* target) {
  std::vector<std::filesystem::path> paths;
  for (auto const& entry :
       std::filesystem::directory_iterator{std::filesystem::path{RUNNEL_SOURCE_DIR "/fuzz/corpus"} / target})
    paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> inputs;
  for (auto const& path : paths) {
    std::ifstream file{path, std::ios::binary};
    inputs.emplace_back(std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{});
  }
  return inputs;
}

// Makes inputs out of others.
class Changes {
 public:
  explicit Changes(std::vector<std::string> const& corpus) : corpus_{corpus} {}

  std::string change(std::string input) {
    for (auto count = 1 + below(4); count > 0; --count)
      change_once(input);
    return input;
  }

 private:
  std::size_t below(std::size_t end) {
    return std::uniform_int_distribution<std::size_t>{0, end - 1}(random_);
  }

  void change_once(std::string& input) {
    auto const at = below(input.size() + 1);
    auto const length = std::min(input.size() - at, below(16));
    switch (below(5)) {
      case 0:
        input.insert(at, 1, static_cast<char>(below(256)));
        break;
      case 1:
        input.erase(at, length);
        break;
      case 2:
        input.insert(at, input.substr(at, length));
        break;
      case 3:
        if (at < input.size()) input[at] = static_cast<char>(input[at] ^ (1U << below(8)));
        break;
      default:
        splice(input, at);
    }
  }

  // The end becomes that of another input.
  void splice(std::string& input, std::size_t at) {
    auto const& other = corpus_[below(corpus_.size())];
    input.replace(at, std::string::npos, other, below(other.size() + 1), std::string::npos);
  }

  std::vector<std::string> const& corpus_;
  std::mt19937_64 random_;  // Begins in the same way every time.
};

std::string tried;  // What to print if it is a finding.

void print_tried() {
  std::fprintf(stderr, "\nthe input, for the corpus: printf '");
  for (auto const byte : tried)
    std::fprintf(stderr, "\\x%02x", static_cast<unsigned char>(byte));
  std::fprintf(stderr, "'\n");
}

void print_at_abort(int /*signal*/) {
  print_tried();
}

class FuzzCorpus : public testing::TestWithParam<Target> {
 protected:
  void SetUp() override {
    before_ = std::signal(SIGABRT, &print_at_abort);
    if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(&print_tried);
  }
  void TearDown() override {
    std::signal(SIGABRT, before_);
    if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback([] {});
  }

  static void try_input(std::string input) {
    tried = std::move(input);
    // A copy of exactly that size, so that AddressSanitizer sees who reads behind its end.
    std::vector<std::uint8_t> const bytes{tried.begin(), tried.end()};
    try {
      GetParam().try_input(bytes.data(), bytes.size());
    } catch (std::exception const&) {
      print_tried();
      throw;
    }
  }

 private:
  void (*before_)(int) = SIG_DFL;
};

TEST_P(FuzzCorpus, PromisesHoldForItAndForChangesOfIt) {
  auto const corpus = read_corpus(GetParam().name);
  ASSERT_FALSE(corpus.empty());
  Changes changes{corpus};
  for (auto const& input : corpus) {
    try_input(input);
    for (int i = 0; i < kChangesOfEach; ++i)
      try_input(changes.change(input));
  }
}

Target const kTargets[] = {{"http_request", &fuzz_http_request},   {"ics", &fuzz_ics},
                           {"json_body", &fuzz_json_body},         {"jwt", &fuzz_jwt},
                           {"last_event_id", &fuzz_last_event_id}, {"live_text", &fuzz_live_text},
                           {"model_stream", &fuzz_model_stream},   {"sse_frames", &fuzz_sse_frames},
                           {"sse_stream", &fuzz_sse_stream},       {"web_socket", &fuzz_web_socket}};

TEST(FuzzTargets, EveryCorpusHasItsTarget) {
  std::set<std::string> folders;
  for (auto const& entry : std::filesystem::directory_iterator{RUNNEL_SOURCE_DIR "/fuzz/corpus"})
    folders.insert(entry.path().filename());
  std::set<std::string> names;
  for (auto const& target : kTargets)
    names.insert(target.name);
  EXPECT_EQ(names, folders);
}

INSTANTIATE_TEST_SUITE_P(Targets, FuzzCorpus, testing::ValuesIn(kTargets),
                         [](auto const& target) { return std::string{target.param.name}; });

}  // namespace
}  // namespace runnel

// The live path of one run, up to the readers. Numbering and sockets are not part of it; encoding is, because
// the channel encodes each token once.
#include <benchmark/benchmark.h>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_future.hpp>

#include <future>
#include <memory>
#include <vector>

#include "bench/micro/sample_run.h"
#include "runnel/base/cores.h"
#include "runnel/protocol/testing/named_wires.h"
#include "runnel/stream/channel.h"

namespace runnel::bench {
namespace {

constexpr std::size_t kReaders = 200;
constexpr std::size_t kTokens = 100;  // Per iteration; each token is published separately.
constexpr std::size_t kRecordsInMemory = 256;

// Takes the bytes and drops them, like a session whose socket takes everything at once.
class Taker final : public stream::Subscriber {
 public:
  void on_frames(stream::SharedFrames frames) override {
    auto const taken = std::move(frames);
    bytes += taken->bytes.size();
    ++deliveries;
  }
  void on_close(stream::CloseReason /*reason*/) override {}

  std::size_t bytes = 0;
  std::size_t deliveries = 0;
};

template <class Work>
void on_core(base::Cores& cores, std::size_t core, Work work) {
  std::promise<void> done;
  boost::asio::post(cores.at(core), [&] {
    work();
    done.set_value();
  });
  done.get_future().get();
}

stream::Channel::Attach make_attach(std::size_t core, std::shared_ptr<Taker> reader) {
  stream::Channel::Attach attach;
  attach.wire = protocol::kAgUi1;
  attach.core = core;
  attach.subscriber = std::move(reader);
  return attach;
}

class Audience {
 public:
  explicit Audience(std::size_t cores)
      : cores_{cores},
        channel_{std::make_shared<stream::Channel>(
            cores_, 0, sample_names(),
            stream::Encoding{&protocol::encode, protocol::all_wires().size(), &protocol::is_durable_only},
            kRecordsInMemory)} {
    cores_.start();
    on_core(cores_, 0, [this] { channel_->begin_epoch(kEpoch, 0); });
    for (std::size_t i = 0; i < kReaders; ++i) {
      auto const core = i % cores;
      readers_.push_back(std::make_shared<Taker>());
      boost::asio::co_spawn(cores_.at(core), channel_->attach(make_attach(core, readers_.back())),
                            boost::asio::use_future)
          .get();
    }
  }
  Audience(Audience const&) = delete;
  Audience& operator=(Audience const&) = delete;
  ~Audience() { cores_.stop(); }

  // When it returns, every reader has all tokens.
  void publish(std::size_t tokens) {
    on_core(cores_, 0, [this, tokens] {
      for (std::size_t i = 0; i < tokens; ++i)
        channel_->publish({sample_delta(++last_n_)});
      channel_->set_durable(last_n_);
    });
    for (std::size_t core = 0; core < cores_.size(); ++core)
      on_core(cores_, core, [] {});
  }

  [[nodiscard]] std::size_t deliveries() const {
    std::size_t sum = 0;
    for (auto const& reader : readers_)
      sum += reader->deliveries;
    return sum;
  }

 private:
  base::Cores cores_;
  std::shared_ptr<stream::Channel> channel_;
  std::vector<std::shared_ptr<Taker>> readers_;
  std::uint64_t last_n_ = 0;
};

// One item is one token that is delivered to one reader. The time is wall time; the CPU time is that of all
// threads.
void fan_out_to_200_readers(benchmark::State& state) {
  Audience audience{static_cast<std::size_t>(state.range(0))};
  for ([[maybe_unused]] auto _ : state)
    audience.publish(kTokens);

  auto const expected = static_cast<std::size_t>(state.iterations()) * kTokens * kReaders;
  if (audience.deliveries() != expected) state.SkipWithError("tokens are missing");
  state.SetItemsProcessed(static_cast<std::int64_t>(expected));
}
BENCHMARK(fan_out_to_200_readers)
    ->ArgName("cores")
    ->Arg(1)
    ->Arg(2)
    ->UseRealTime()
    ->MeasureProcessCPUTime()
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace runnel::bench

#include "runnel/http/routes/run_feed.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <memory>
#include <string>

#include "runnel/protocol/wires.h"
#include "runnel/store/testing/store_contract.h"
#include "tests/support/run_async.h"

namespace runnel::http {
namespace {

using namespace store;
using testing::HasSubstr;

class SilentReader final : public stream::Subscriber {
 public:
  void on_frames(stream::SharedFrames /*frames*/) override {}
  void on_close(stream::CloseReason /*reason*/) override {}
};

class RunFeedRows : public StoreContract {
 protected:
  RunFeedRows() { cores_.start(); }
  ~RunFeedRows() override {
    close_store();
    cores_.stop();
  }

  // What the feed of a reader gives next.
  FeedStep next(RunRow const& run, Position after) {
    FeedParts const parts{store(), hub_, cores_, replaying_};
    RunFeed feed{parts, kAnn, run, after, Wire{}};
    return run_async_on(cores_.at(0), feed.next(std::make_shared<SilentReader>()));
  }

  // Facts of a writer that took the run over after `after_n`, and ended it.
  static LogBatch taken_over(std::uint64_t after_n) {
    auto const n = after_n + 1;
    return batch(
        n, n + 2,
        fmt::format(R"([{{"n":{},"idx":-1,"ts":1,"fact":"writer_changed","after_n":{}}},)"
                    R"({{"n":{},"idx":-1,"ts":1,"fact":"step_finished","stage":"chat"}},)"
                    R"({{"n":{},"idx":-1,"ts":1,"fact":"run_failed","message":"m","error_id":"e"}}])",
                    n, after_n, n + 1, n + 2));
  }

 private:
  base::Cores cores_{1};
  base::FairPool replaying_{1, 4};
  stream::Hub hub_{cores_, {&protocol::encode, protocol::all_wires().size(), &protocol::is_durable_only}, 16};
};

// The reader has seen tokens that a crash took. Between its request and its first read, the next writer has
// written as many facts again.
TEST_P(RunFeedRows, SSE_4_EpochThatBeginsBeforeTheReadersPlaceIsShownFromItsFirstFact) {
  auto const admitted = admit(admission("r1"));
  auto const seen = row(admitted.run);
  Position const after{admitted.epoch, seen.last_n + 2};
  auto const claimed = claim(admitted.run, kNow + 1);
  end(admitted.run, claimed.epoch, taken_over(seen.last_n), RunStatus::failed);

  auto const step = next(seen, after);

  ASSERT_EQ(step.kind, FeedStep::Kind::frames);
  EXPECT_THAT(step.frames->bytes, HasSubstr(fmt::format("id: {}-{}\n", claimed.epoch, seen.last_n + 2)));
  EXPECT_THAT(step.frames->bytes, HasSubstr(fmt::format("id: {}-{}\n", claimed.epoch, seen.last_n + 3)));
}

INSTANTIATE_TEST_SUITE_P(Engines, RunFeedRows, testing::Values(sqlite_engine(), postgres_engine()),
                         engine_name);

}  // namespace
}  // namespace runnel::http

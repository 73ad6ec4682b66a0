#include "runnel/stream/relay.h"

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace runnel::stream {
namespace {

class Ear final : public Subscriber {
 public:
  explicit Ear(std::chrono::microseconds slowness) : slowness_{slowness} {}
  void on_frames(SharedFrames frames) override {
    std::this_thread::sleep_for(slowness_);
    heard += frames->bytes;
    ++calls;
  }
  void on_close(CloseReason reason) override { closed = reason; }

  std::string heard;
  int calls = 0;
  std::optional<CloseReason> closed;

 private:
  std::chrono::microseconds slowness_;
};

SharedFrames bytes(std::string text) {
  return share({std::move(text), {}});
}

class RelayTest : public testing::Test {
 protected:
  std::shared_ptr<Ear> add_ear(std::string first = {}, std::chrono::microseconds slowness = {}) {
    auto ear = std::make_shared<Ear>(slowness);
    relay_->add(++last_id_, ear, bytes(std::move(first)));
    return ear;
  }
  // Adds enough readers for a wide fan-out, which takes about 2 ms, and returns the first of them.
  std::shared_ptr<Ear> add_crowd() {
    auto const first = add_ear({}, std::chrono::milliseconds{2});
    for (int i = 0; i < 31; ++i)
      add_ear();
    return first;
  }

  boost::asio::io_context context_;
  std::shared_ptr<Relay> relay_ = std::make_shared<Relay>(context_);
  ReaderId last_id_ = 0;
};

TEST_F(RelayTest, FewReadersGetEachFrameAtOnce) {
  auto const ear = add_ear({}, std::chrono::milliseconds{1});
  for (auto const* text : {"a", "b", "c"})
    relay_->send(bytes(text));
  EXPECT_EQ(ear->heard, "abc");
  EXPECT_EQ(ear->calls, 3);
}

TEST_F(RelayTest, FramesThatComeTooFastForACrowdShareAWrite) {
  auto const ear = add_crowd();
  for (auto const* text : {"a", "b", "c"})
    relay_->send(bytes(text));
  EXPECT_EQ(ear->heard, "a");
  context_.run();
  EXPECT_EQ(ear->heard, "abc");
  EXPECT_EQ(ear->calls, 2);
}

TEST_F(RelayTest, SSE_3_AReaderThatComesWhileFramesAreHeldMissesAndRepeatsNone) {
  auto const early = add_crowd();
  relay_->send(bytes("a"));
  relay_->send(bytes("b"));
  auto const late = add_ear("ab");
  relay_->send(bytes("c"));
  context_.run();
  EXPECT_EQ(early->heard, "abc");
  EXPECT_EQ(late->heard, "abc");
}

TEST_F(RelayTest, SSE_2_WhatIsHeldGoesOutBeforeTheEnd) {
  auto const ear = add_crowd();
  relay_->send(bytes("a"));
  relay_->send(bytes("end"));
  relay_->close(CloseReason::ended);
  EXPECT_EQ(ear->heard, "aend");
  EXPECT_EQ(ear->closed, CloseReason::ended);
  context_.run();
  EXPECT_EQ(ear->calls, 2);
}

TEST_F(RelayTest, HeldFramesReachThoseWhoStayWhenTheCrowdLeaves) {
  auto const ear = add_crowd();
  relay_->send(bytes("a"));
  relay_->send(bytes("b"));
  for (ReaderId id = 2; id <= last_id_; ++id)
    relay_->remove(id);
  relay_->send(bytes("c"));
  context_.run();
  EXPECT_EQ(ear->heard, "abc");
}

TEST_F(RelayTest, ATimerThatNobodyRunsKeepsNothingAlive) {
  auto const ear = add_crowd();
  relay_->send(bytes("a"));
  relay_->send(bytes("b"));
  relay_.reset();
  EXPECT_EQ(ear->heard, "a");
}

}  // namespace
}  // namespace runnel::stream

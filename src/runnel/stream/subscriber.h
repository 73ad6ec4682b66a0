#pragma once

#include "runnel/stream/frames.h"

namespace runnel::stream {

enum class CloseReason {
  ended,      // The terminal frame was delivered: the stream is complete, unless its feed continues.
  reconnect,  // Not the end of the stream: the reader resumes with the last id that it has.
};

// A live reader of one run. The channel calls it on the reader's core only, in order; both calls must return
// quickly and must not throw. After `on_close` there are no more calls, unless it attaches again.
class Subscriber {
 public:
  Subscriber() = default;
  Subscriber(Subscriber const&) = delete;
  Subscriber& operator=(Subscriber const&) = delete;
  virtual ~Subscriber() = default;

  virtual void on_frames(SharedFrames frames) = 0;
  virtual void on_close(CloseReason reason) = 0;
};

}  // namespace runnel::stream

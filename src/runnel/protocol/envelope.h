#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "runnel/core/fact/fact.h"
#include "runnel/core/json/write.h"

namespace runnel::protocol {

// What is written around an event. A codec names the event's type and writes its JSON; the envelope writes
// what comes before and after it. `type` is always a literal in the source code. The event's first byte, as
// `open` has written it, is at `begin`.
struct Envelope {
  void (*open)(std::string& out, Record const& record, std::string_view type);
  void (*close)(std::string& out, std::size_t begin);
};

// One event under construction, appended to `out`. The codec adds members to `json` and then calls `end`
// once.
class Event {
 public:
  Event(Envelope const& envelope, std::string& out, Record const& record, std::string_view type)
      : begin_{out.size()}, json{opened(envelope, out, record, type)}, envelope_{envelope}, out_{out} {}

  void end() {
    json.close();
    envelope_.close(out_, begin_);
  }

 private:
  std::size_t begin_;

 public:
  JsonObject json;

 private:
  static std::string& opened(Envelope const& envelope, std::string& out, Record const& record,
                             std::string_view type) {
    envelope.open(out, record, type);
    return out;
  }

  Envelope const& envelope_;
  std::string& out_;
};

}  // namespace runnel::protocol

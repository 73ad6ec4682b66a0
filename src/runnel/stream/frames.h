#pragma once

#include <boost/container/small_vector.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "runnel/core/fact/fact.h"
#include "runnel/core/fact/run_names.h"
#include "runnel/core/fact/wire.h"

namespace runnel::stream {

// How records become frames. It is passed in, because this room does not know the wires.
struct Encoding {
  // Appends at most one frame for the record (WIRE-1).
  void (*encode)(Wire wire, RunNames const& names, Record const& record, std::string& out) = nullptr;
  std::size_t wires = 0;  // The number of wires: every Wire is a number below it.
  // Whether the readers of this wire get only what is durable. If it is null, no wire is like that.
  bool (*is_durable_only)(Wire wire) = nullptr;
};

// Encoded frames of one wire, one after the other, and where each ends.
struct Frames {
  std::string bytes;
  boost::container::small_vector<std::uint32_t, 6> ends;  // Where each frame ends in `bytes`.

  [[nodiscard]] std::size_t count() const { return ends.size(); }

  void add(Encoding const& encoding, Wire wire, RunNames const& names, Record const& record) {
    auto const before = bytes.size();
    encoding.encode(wire, names, record, bytes);
    if (bytes.size() > before) ends.push_back(static_cast<std::uint32_t>(bytes.size()));
  }

  void append(Frames const& more) {
    auto const before = static_cast<std::uint32_t>(bytes.size());
    bytes += more.bytes;
    for (auto const end : more.ends)
      ends.push_back(before + end);
  }
};

// Made once and shared by all readers of a wire.
using SharedFrames = std::shared_ptr<Frames const>;

inline SharedFrames share(Frames frames) {
  return std::make_shared<Frames const>(std::move(frames));
}

}  // namespace runnel::stream

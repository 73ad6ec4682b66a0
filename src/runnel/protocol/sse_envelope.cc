#include "runnel/protocol/sse_envelope.h"

namespace runnel::protocol {
namespace {

void open_frame(std::string& out, Record const& record, std::string_view type) {
  out += "id: ";
  append_position(out, record.position);
  out += "\nevent: ";
  out += type;
  out += "\ndata: ";
}

void close_frame(std::string& out, std::size_t /*begin*/) {
  out += "\n\n";
}

}  // namespace

constinit Envelope const kSse{&open_frame, &close_frame};

}  // namespace runnel::protocol

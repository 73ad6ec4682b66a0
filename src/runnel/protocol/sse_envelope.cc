#include "runnel/protocol/sse_envelope.h"

namespace runnel::protocol {
namespace {

void open_without_id(std::string& out, Record const& /*record*/, std::string_view type) {
  out += "event: ";
  out += type;
  out += "\ndata: ";
}

void open_frame(std::string& out, Record const& record, std::string_view type) {
  out += "id: ";
  append_position(out, record.position);
  out += '\n';
  open_without_id(out, record, type);
}

void close_frame(std::string& out, std::size_t /*begin*/) {
  out += "\n\n";
}

}  // namespace

constinit Envelope const kSse{&open_frame, &close_frame};
constinit Envelope const kSseWithoutId{&open_without_id, &close_frame};

}  // namespace runnel::protocol
